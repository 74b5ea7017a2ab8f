/**
 * Every page that the application has, in each of its states that look different: what reaches everybody is tested
 * on all of them. A page that is added to the application is added here.
 */
import type { BrowserContext, Page } from '@playwright/test';
import { LOCALES } from '#lib/i18n/locales.ts';
import { isAll } from '../../support/all.ts';
import { HAND_OVER_ROUTER } from '../../support/gateways/hand-over.ts';
import { demoPassword, typeSignIn } from './developers.ts';
import {
	OFFLINE_ROUTER,
	SHARED_ROUTER,
	UNRESPONSIVE_ROUTER,
	type PurchaseName,
	type PurchaseFixtures
} from './purchase-fixtures.ts';
import { ROUTER } from './test.ts';

export interface Place {
	name: string;
	path(fixtures: PurchaseFixtures): string;
	/** Actions that make the page look like this. */
	act?(page: Page): Promise<void>;
	/** The area that needs a sign-in. */
	signedIn?: 'developer' | 'owner' | 'admin';
}

const at = (name: string, path: string): Place => ({ name, path: () => path });
const purchase = (name: PurchaseName): Place => ({
	name: `purchase: ${name}`,
	path: ({ purchases }) => purchases[name]
});
const developed = (name: string, path: string): Place => ({ ...at(name, path), signedIn: 'developer' });
const owned = (name: string, path: string): Place => ({ ...at(name, path), signedIn: 'owner' });
const administered = (name: string, path: string): Place => ({ ...at(name, path), signedIn: 'admin' });

/** Sends a form as it must not be sent. */
const sendWrong = (selector: string, text: string) => async (page: Page) => {
	await page.locator(selector).fill(text);
	const form = page.locator('form[method=post]').filter({ has: page.locator(selector) });
	await form.locator('button.button').click();
	await page.getByRole('alert').waitFor();
};

/** Signs in at a gateway with what is no user name and password. */
async function signInWrong(page: Page): Promise<void> {
	await page.locator('#user').fill('s999999');
	await sendWrong('#password', 'aaaa-bbbb-cccc')(page);
}

/** Opens all that is folded up. */
async function unfold(page: Page): Promise<void> {
	const folded = page.locator('main details:not([open]) > summary');
	while ((await folded.count()) > 0) await folded.first().click();
}

/** The pages of buyers. */
export const BUYING: readonly Place[] = [
	at('list', '/'),
	at('list, place not found', '/?place=Atlantis'),
	{ ...at('list, languages open', '/'), act: (page) => page.locator('.languages summary').click() },
	at('router', `/r/${ROUTER}`),
	at('router, owner’s own password', `/r/${SHARED_ROUTER}`),
	{ ...at('router, wrong number', `/r/${ROUTER}`), act: sendWrong('#phone', '0414 123 456') },
	at('router, offline', `/r/${OFFLINE_ROUTER}`),
	at('no such router', '/r/999999'),
	purchase('waiting'),
	purchase('slow'),
	purchase('active'),
	{ name: 'purchase: active, everything unfolded', path: ({ purchases }) => purchases.active, act: unfold },
	{ name: 'purchase: active, more time', path: ({ purchases }) => `${purchases.active}?more` },
	purchase('adding'),
	purchase('hotspot'),
	purchase('hotspot, code'),
	purchase('enterprise'),
	purchase('owner’s own password'),
	purchase('activating'),
	purchase('not let in'),
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
	{ name: 'splash, sign in', path: ({ splash }) => `${splash}/sign-in` },
	{ name: 'splash, wrong sign-in', path: ({ splash }) => `${splash}/sign-in`, act: signInWrong },
	{ name: 'pass', path: ({ pass }) => pass },
	at('resume', '/resume'),
	{ ...at('resume, wrong code', '/resume'), act: sendWrong('#code', 'AAAA-AAAA') },
	{ ...at('resume, wrong transaction', '/resume'), act: sendWrong('#code', 'Transaction ID: 1234567') },
	at('help', '/help'),
	at('terms', '/terms'),
	at('privacy', '/privacy'),
	at('no such purchase', `/s/${'A'.repeat(24)}`),
	at('no such page', '/nothing-here')
];

/** A purchase in the frame of the kiosk, which fetches it as it fetches a link. */
const atKiosk = (name: PurchaseName): Place => ({
	name: `kiosk: ${name}`,
	path: ({ purchases }) => `/kiosk/${ROUTER}?shows=${purchases[name]}/kiosk`,
	async act(page) {
		await page.locator('.enhanced').waitFor({ state: 'attached' });
		await page.evaluate(() => {
			const link = document.createElement('a');
			const language = location.pathname.replace(/\/kiosk\/.*/, '');
			link.href = language + (new URLSearchParams(location.search).get('shows') ?? '');
			document.querySelector('.kiosk')?.append(link);
			link.click();
		});
		await page.locator('.kiosk .status').first().waitFor();
	}
});

/** The screens of a kiosk, and its owner's page. */
export const KIOSK: readonly Place[] = [
	{ ...at('kiosk', `/kiosk/${ROUTER}`), act: (page) => page.locator('.kiosk-pad').waitFor() },
	...(['waiting', 'active', 'hotspot', 'declined', 'refunded', 'unknown'] as const).map(atKiosk),
	{
		...at('kiosk, voucher', `/kiosk/${ROUTER}`),
		async act(page) {
			await page.locator('a[href$="/redeem"]').click();
			await page.locator('.kiosk-pad.letters').waitFor();
		}
	},
	at('kiosk, offline', `/kiosk/${OFFLINE_ROUTER}`),
	at('kiosk, no such router', '/kiosk/999999'),
	at('kiosk, set up', `/kiosk/${ROUTER}/setup`)
];

/** The way of a buyer, in short: looked at in every language. */
export const MAIN = BUYING.filter(({ name }) =>
	[
		...['list', 'router', 'purchase: waiting', 'purchase: active, everything unfolded'],
		...['purchase: declined', 'resume', 'splash']
	].includes(name)
);

/** One of each direction of writing; with `--all` every one. */
export const OTHER_LANGUAGES = isAll ? LOCALES.filter((one) => one !== 'en') : ['ar', 'sw'];

/** The same page with the language in its address. */
export const inLanguage = (place: Place, locale: string): Place => ({
	...place,
	name: `${place.name} (${locale})`,
	path: (fixtures) => `/${locale}${place.path(fixtures)}`.replace(/\/$/, '')
});

/** One of each kind; with `--all` more of them. */
const DOCS = ['/docs', '/docs/limits', '/docs/guides/configuration', '/docs/quickstart'];
const MORE_DOCS = ['states', 'versioning', 'webhooks', 'guides/go-live'];

/** The API reference. */
export const REFERENCE: readonly Place[] = [
	...[...DOCS, ...(isAll ? MORE_DOCS.map((page) => `/docs/${page}`) : [])].map((path) => at(path, path)),
	at('docs/search', '/docs/search?q=refund'),
	at('problems', '/problems')
];

/** Adds another webhook each time, and opens it. */
async function addWebhook(page: Page): Promise<void> {
	await unfold(page);
	await page.getByLabel('Address on your server').fill(`https://app.example.com/${Date.now()}`);
	await page.getByRole('button', { name: 'Add webhook' }).click();
	await page.getByRole('link', { name: 'Go to the webhook' }).click();
	await page.waitForURL(/\/webhooks\/\d+/);
	await unfold(page);
}

/** Behind or before a sign-in. */
export const SIGNED_IN: readonly Place[] = [
	at('sign in', '/developer/sign-in'),
	at('sign up', '/developer/sign-up'),
	at('forgot', '/developer/forgot'),
	developed('keys', '/developer/keys'),
	{ ...developed('keys, unfolded', '/developer/keys'), act: unfold },
	developed('requests', '/developer/requests'),
	developed('webhooks', '/developer/webhooks'),
	{ ...developed('webhooks, unfolded', '/developer/webhooks'), act: unfold },
	{ ...developed('webhook', '/developer/webhooks'), act: addWebhook },
	developed('account', '/developer/account')
];

/** Types a price that is refused. */
const sendWrongPrice = async (page: Page) => {
	await page.getByText('Change the price').click();
	await page.getByLabel(/^New price/).fill('much');
	await page.getByRole('button', { name: 'Save' }).click();
	await page.getByRole('alert').waitFor();
};

/** Saves a router without a name, which is refused. */
async function saveNameless(page: Page): Promise<void> {
	await page.getByLabel('Name', { exact: true }).fill(' ');
	await page.getByRole('button', { name: 'Save' }).first().click();
	await page.getByRole('alert').waitFor();
}

/** Opens the first gateway of a router, with its configuration. */
async function openGateway(page: Page): Promise<void> {
	await page.locator('.things a.covers').first().click();
	await page.getByRole('button', { name: 'Show the configuration' }).click();
	await page.getByRole('link', { name: 'Download the file' }).first().waitFor();
}

/** Opens an active customer, and the forms to help. */
async function openCustomer(page: Page): Promise<void> {
	await page.locator('.things li:has(.mark.good) a').first().click();
	await page.waitForURL(/\/customers\/\d+/);
	await unfold(page);
	await page.getByRole('button', { name: 'Yes, end it' }).waitFor();
}

/** Makes a batch to print, and opens it. */
async function makeVouchers(page: Page): Promise<void> {
	await unfold(page);
	await page.locator('#size').fill('3');
	await page.locator('form[action="?/make"] button').click();
	await page.waitForURL(/\/vouchers\/\d+/);
}

/** An owner's phone, and what the owner prints. */
export const OWNING: readonly Place[] = [
	at('owner, sign in', '/owner/sign-in'),
	at('owner, forgot', '/owner/forgot'),
	owned('owner', '/owner'),
	{ ...owned('owner: money, everything unfolded', '/owner/money'), act: unfold },
	owned('owner: statement', '/owner/money/statement'),
	{ ...owned('owner: payouts, everything unfolded', '/owner/money/payouts'), act: unfold },
	owned('owner: payments of an hour', '/owner/money?period=monthly&hour=9&kind=payment'),
	{ ...owned('owner: vouchers, everything unfolded', '/owner/vouchers'), act: unfold },
	{ ...owned('owner: printed vouchers', '/owner/vouchers'), act: makeVouchers },
	owned('owner: active customers', '/owner/customers?group=active'),
	owned('owner: customers', '/owner/customers'),
	owned('owner: customers, wrong', '/owner/customers?q=12x&day=soon'),
	owned('owner: customer', '/owner/customers/1'),
	{ ...owned('owner: customer, everything unfolded', '/owner/customers'), act: openCustomer },
	{ ...owned('owner: settings, everything unfolded', '/owner/settings'), act: unfold },
	owned('owner: routers', '/owner/routers'),
	owned('owner: router, new', '/owner/routers/new'),
	owned('owner: router', `/owner/routers/${ROUTER}`),
	owned('owner: router, unresponsive', `/owner/routers/${UNRESPONSIVE_ROUTER}`),
	owned('owner: router, edit', `/owner/routers/${ROUTER}/edit`),
	{ ...owned('owner: router, nameless', `/owner/routers/${ROUTER}/edit`), act: saveNameless },
	owned('owner: router, shared password', `/owner/routers/${SHARED_ROUTER}/edit`),
	owned('owner: router, gateway', `/owner/routers/${HAND_OVER_ROUTER}/gateway`),
	owned('owner: router, new gateway', `/owner/routers/${HAND_OVER_ROUTER}/gateway?kind=unifi`),
	{ ...owned('owner: gateway', `/owner/routers/${HAND_OVER_ROUTER}/gateway`), act: openGateway },
	{ ...owned('owner: router, wrong price', `/owner/routers/${ROUTER}`), act: sendWrongPrice },
	{ ...owned('owner: offers, everything unfolded', `/owner/routers/${ROUTER}/offers`), act: unfold },
	at('poster', `/r/${ROUTER}/poster`)
];

/** Creates another account each time. */
const createAccount = async (page: Page) => {
	await page.getByText('New account').click();
	await page.locator('#new-email').fill(`a${Date.now()}@accounts.example`);
	await page.locator('#note').fill('Has opened a café');
	await page.getByRole('button', { name: 'Create the account' }).click();
	await page.locator('.secret').waitFor();
};

/** The administrator's pages. The refunded purchase has left a review. */
export const ADMINISTERING: readonly Place[] = [
	administered('admin', '/admin'),
	administered('admin: reviews', '/admin/reviews'),
	administered('admin: review', '/admin/reviews/1'),
	{ ...administered('admin: payouts, everything unfolded', '/admin/payouts?preview=1'), act: unfold },
	administered('admin: payments', '/admin/payments?show=paid'),
	administered('admin: payments, search', '/admin/payments?q=0774011001'),
	administered('admin: routers', '/admin/routers'),
	{ ...administered('admin: router, everything unfolded', '/admin/routers/1'), act: unfold },
	administered('admin: routers, import', '/admin/routers/import'),
	administered('admin: accounts', '/admin/accounts'),
	administered('admin: account', '/admin/accounts/3'),
	{ ...administered('admin: account, everything unfolded', '/admin/accounts/3'), act: unfold },
	{ ...administered('admin: account, created', '/admin/accounts'), act: createAccount },
	administered('admin: audit', '/admin/audit'),
	administered('admin: audit, wrong', '/admin/audit?payment=one&from=soon')
];

export const PAGES: readonly Place[] = [
	...BUYING,
	...KIOSK,
	...OWNING,
	...REFERENCE,
	...SIGNED_IN,
	...ADMINISTERING
];

/** What people read in their own language, but for pages whose actions look for English words. */
export const TRANSLATED = [...BUYING, ...KIOSK, ...OWNING.filter(({ act }) => !act || act === unfold)];

const COLOURFUL = [
	...['list', 'router', 'router, wrong number', 'purchase: waiting', 'purchase: active, everything unfolded'],
	...['receipt', 'purchase: declined', 'purchase: not let in', 'purchase: ended', 'splash', 'help'],
	...['kiosk', 'kiosk, voucher', 'kiosk: waiting', 'kiosk: active', 'kiosk, set up'],
	...[
		'owner',
		'owner: money, everything unfolded',
		'owner: settings, everything unfolded',
		'owner: customer'
	],
	...['owner: router, nameless', 'owner: router, unresponsive', 'owner: router, wrong price', 'poster'],
	...['/docs', '/docs/quickstart', 'problems', 'sign in', 'keys', 'webhooks'],
	...['admin', 'admin: review', 'admin: accounts', 'admin: account, created', 'admin: audit, wrong']
];

/** The pages that together have all that the theme colours; with `--all` every page. */
export const COLOURED = isAll ? PAGES : COLOURFUL.map(findPlace);

export function findPlace(name: string): Place {
	const place = PAGES.find((one) => one.name === name);
	if (!place) throw new Error(`There is no page called ${name}`);
	return place;
}

const signedInAs = new WeakMap<BrowserContext, string>();

/** Opens a page in the state that it is listed for; signs in first where that is needed. */
export async function visit(page: Page, fixtures: PurchaseFixtures, place: Place): Promise<void> {
	const address = fixtures.url + place.path(fixtures);
	const context = page.context();
	const email =
		place.signedIn && (place.signedIn === 'admin' ? 'admin@airtill.example' : 'owner@airtill.example');
	if (email && signedInAs.get(context) !== email) await context.clearCookies();
	let response = await page.goto(address);
	if (email && new URL(page.url()).pathname.endsWith('/sign-in')) {
		await typeSignIn(page, email, demoPassword(fixtures.server, email));
		await page.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
		signedInAs.set(context, email);
		response = await page.goto(address);
	}
	const status = response?.status() ?? 0;
	if (status >= 400 && !place.name.includes('no such')) throw new Error(`${place.name} answers ${status}`);
	await place.act?.(page);
}
