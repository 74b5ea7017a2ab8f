/**
 * Every page that the application has, in each of its states that look different: what reaches everybody is tested
 * on all of them. A page that is added to the application is added here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from '@playwright/test';
import { handOver } from '../support/hand-over.ts';
import { buyAt, numberEnding, untilTitled } from '../support/purchase.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { openSql } from '../support/sql.ts';
import { ROUTER } from './support/test.ts';

/** An installation with a purchase in each state. */
export interface Scene {
	server: TestServer;
	url: string;
	/** Path of a gateway's splash page. */
	splash: string;
	/** Paths of purchases by their state. */
	purchases: Readonly<Record<PurchaseName, string>>;
}

export type PurchaseName =
	| 'waiting'
	| 'slow'
	| 'active'
	/** More time was asked for, and the phone asks for the PIN. */
	| 'adding'
	| 'declined'
	| 'no funds'
	| 'refunded'
	| 'unknown'
	| 'too late'
	| 'over'
	| 'ended';

export interface Place {
	name: string;
	path(scene: Scene): string;
	/** What a person does there before the page looks like this. */
	act?(page: Page): Promise<void>;
	/** Into which of the two areas somebody signs in to see it. */
	signedIn?: 'developer' | 'owner';
}

const OFFLINE_ROUTER = 17;
const MINUTE = 60_000;
const lookAgainMs = 50;

const at = (name: string, path: string): Place => ({ name, path: () => path });
const purchase = (name: PurchaseName): Place => ({
	name: `purchase: ${name}`,
	path: ({ purchases }) => purchases[name]
});
const developed = (name: string, path: string): Place => ({ ...at(name, path), signedIn: 'developer' });
const owned = (name: string, path: string): Place => ({ ...at(name, path), signedIn: 'owner' });

/** Sends a form as it must not be sent. */
const sendWrong = (selector: string, text: string) => async (page: Page) => {
	await page.locator(selector).fill(text);
	await page.locator('form[method=post] button.button').click();
	await page.getByRole('alert').waitFor();
};

/** Opens all that is folded up. */
async function unfold(page: Page): Promise<void> {
	const folded = page.locator('main details:not([open]) > summary');
	while ((await folded.count()) > 0) await folded.first().click();
}

/** What a buyer sees. */
export const BUYING: readonly Place[] = [
	at('list', '/'),
	at('list, place not found', '/?place=Atlantis'),
	{ ...at('list, languages open', '/'), act: (page) => page.locator('.languages summary').click() },
	at('router', `/r/${ROUTER}`),
	{ ...at('router, wrong number', `/r/${ROUTER}`), act: sendWrong('#phone', '0414 123 456') },
	at('router, offline', `/r/${OFFLINE_ROUTER}`),
	at('no such router', '/r/999999'),
	purchase('waiting'),
	purchase('slow'),
	purchase('active'),
	{ name: 'purchase: active, everything unfolded', path: ({ purchases }) => purchases.active, act: unfold },
	{ name: 'purchase: active, more time', path: ({ purchases }) => `${purchases.active}?more` },
	purchase('adding'),
	{ name: 'receipt', path: ({ purchases }) => `${purchases.active}/receipt` },
	purchase('declined'),
	purchase('no funds'),
	purchase('refunded'),
	purchase('unknown'),
	{ name: 'purchase: unknown, try again', path: ({ purchases }) => `${purchases.unknown}?again` },
	purchase('too late'),
	purchase('over'),
	purchase('ended'),
	{ name: 'splash', path: ({ splash }) => splash },
	at('resume', '/resume'),
	{ ...at('resume, wrong code', '/resume'), act: sendWrong('#code', 'AAAA-AAAA') },
	at('no such purchase', `/s/${'A'.repeat(24)}`),
	at('no such page', '/nothing-here')
];

/** Touches the kiosk's way through the first choices, as far as that. */
const atKiosk = (touches: number) => async (page: Page) => {
	const steps = ['.kiosk-begin:enabled', '.kiosk-choice >> nth=1', '.kiosk-choice >> nth=0'];
	for (const step of steps.slice(0, touches)) await page.locator(step).click();
	if (touches <= steps.length) return;
	await page.locator('#kiosk-number').fill('0772 123 456');
	await page.locator('.kiosk-say .button').click();
	await page.locator('.kiosk-pay').waitFor();
};

/** The screens of a kiosk that come before a purchase, and its owner's page. */
export const KIOSK: readonly Place[] = [
	{ ...at('kiosk', `/kiosk/${ROUTER}`), act: atKiosk(0) },
	{ ...at('kiosk: time', `/kiosk/${ROUTER}`), act: atKiosk(1) },
	{ ...at('kiosk: network', `/kiosk/${ROUTER}`), act: atKiosk(2) },
	{ ...at('kiosk: number', `/kiosk/${ROUTER}`), act: atKiosk(3) },
	{ ...at('kiosk: confirm', `/kiosk/${ROUTER}`), act: atKiosk(4) },
	at('kiosk, offline', `/kiosk/${OFFLINE_ROUTER}`),
	at('kiosk, no such router', '/kiosk/999999'),
	at('kiosk, set up', `/kiosk/${ROUTER}/setup`)
];

/** The way of a buyer, in short: looked at in every language. */
export const MAIN = BUYING.filter(({ name }) =>
	[
		'list',
		'router',
		'purchase: waiting',
		'purchase: active, everything unfolded',
		'purchase: declined',
		'resume',
		'splash'
	].includes(name)
);

/** The same page with the language in its address. */
export const inLanguage = (place: Place, locale: string): Place => ({
	...place,
	name: `${place.name} (${locale})`,
	path: (scene) => `/${locale}${place.path(scene)}`.replace(/\/$/, '')
});

/** The API reference. */
export const REFERENCE: readonly Place[] = [
	...['', '/deprecations', '/endpoints', '/errors', '/limits', '/states', '/versioning', '/webhooks'].map(
		(page) => at(`docs${page}`, `/docs${page}`)
	),
	at('docs/endpoints/sessions', '/docs/endpoints/sessions'),
	at('problem', '/problems/amount_mismatch')
];

/** Behind or before a sign-in. */
export const SIGNED_IN: readonly Place[] = [
	at('sign in', '/developer/sign-in'),
	at('sign up', '/developer/sign-up'),
	at('forgot', '/developer/forgot'),
	developed('keys', '/developer/keys'),
	developed('keys, new', '/developer/keys/new'),
	developed('payments', '/developer/payments'),
	developed('requests', '/developer/requests'),
	developed('webhooks', '/developer/webhooks'),
	developed('webhooks, new', '/developer/webhooks/new'),
	developed('account', '/developer/account')
];

/** Asks what a price would mean, without changing it. */
const askPrice = async (page: Page) => {
	await page.getByLabel(/^New price/).fill('650');
	await page.getByRole('button', { name: 'See what buyers would pay' }).click();
	await page.getByRole('heading', { name: /^Change to/ }).waitFor();
};

/** An owner's phone, and what the owner prints. */
export const OWNING: readonly Place[] = [
	at('owner, sign in', '/owner/sign-in'),
	owned('owner', '/owner'),
	owned('owner: earnings', '/owner/earnings'),
	owned('owner: payments', '/owner/payments'),
	owned('owner: people', '/owner/people'),
	owned('owner: look', '/owner/brand'),
	owned('owner: routers', '/owner/routers'),
	owned('owner: router', `/owner/routers/${ROUTER}`),
	owned('owner: router, look', `/owner/routers/${ROUTER}/brand`),
	owned('owner: price', `/owner/routers/${ROUTER}/price`),
	{ ...owned('owner: price, asked', `/owner/routers/${ROUTER}/price`), act: askPrice },
	at('poster', `/r/${ROUTER}/poster`),
	at('poster, small', `/r/${ROUTER}/poster?size=a6&languages=ar,en,am`)
];

export const PAGES: readonly Place[] = [...BUYING, ...KIOSK, ...OWNING, ...REFERENCE, ...SIGNED_IN];

/** Starts an installation and brings a purchase into each state. */
export async function startScene(): Promise<Scene> {
	const server = await startServer();
	const { url } = server;
	const buy = async (digits: string, title: RegExp) => {
		const path = await buyAt(url, `/r/${ROUTER}`, numberEnding(digits));
		await untilTitled(url, path, title);
		return path;
	};

	// What takes time comes first; then the clock stands still, and what happens at once comes.
	const over = await buy('456', /^You are paid until/);
	const late = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(11 * MINUTE);
	await untilTitled(url, late, /^Your network has not answered yet/);
	await server.advance(51 * MINUTE);
	await untilTitled(url, over, /^Your time is over/);
	const unknown = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(11 * MINUTE);
	await untilTitled(url, unknown, /^Your network has not answered yet/);
	const slow = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(MINUTE);

	const ended = await buy('456', /^You are paid until/);
	await fetch(`${url}${ended}?/end`, {
		method: 'POST',
		headers: { origin: url, accept: 'text/html' },
		// Without a body it is no form, and nothing is ended.
		body: new URLSearchParams()
	});
	await untilTitled(url, ended, /^You ended your time/);
	const adding = await buy('456', /^You are paid until/);
	await buyAt(url, `${adding}?more`, numberEnding('003'));
	const [waiting, active, declined, noFunds, refunded] = await Promise.all([
		buy('003', /^Check your phone/),
		buy('456', /^You are paid until/),
		buy('001', /^You cancelled/),
		buy('002', /^Not enough/),
		buy('009', /^Your money went back/)
	]);
	return {
		server,
		url,
		splash: await handOver(server),
		purchases: {
			waiting,
			slow,
			active,
			adding,
			declined,
			'no funds': noFunds,
			refunded,
			unknown,
			'too late': late,
			over,
			ended
		}
	};
}

/** Waits until the operator has every payment: one whose time is over before that is not asked for at all. */
async function asked(server: TestServer): Promise<void> {
	const sql = await openSql(server.databaseUrl);
	const open = `select count(*) from payments where status = 'pending' and submit_state <> 'accepted'`;
	while ((await sql.count(open)) > 0) await sleep(lookAgainMs);
	await sql.close();
}

/** The password of the demo account, as the server prints it. */
function demoPassword(server: TestServer): string {
	return /^ +owner@airtill\.example +password (\S+)$/m.exec(server.stdout())?.[1] ?? '';
}

/** Opens a page in the state that it is listed for; signs in first where that is needed. */
export async function visit(page: Page, scene: Scene, place: Place): Promise<void> {
	await page.goto(scene.url + place.path(scene));
	if (place.signedIn && new URL(page.url()).pathname === `/${place.signedIn}/sign-in`) {
		await page.getByLabel('E-mail address').fill('owner@airtill.example');
		await page.getByLabel('Password').fill(demoPassword(scene.server));
		await page.getByRole('button', { name: 'Sign in', exact: true }).click();
		await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
		await page.goto(scene.url + place.path(scene));
	}
	await place.act?.(page);
}
