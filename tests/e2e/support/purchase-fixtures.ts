/** An installation with a purchase in each state that looks different. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { handOver, HAND_OVER_ROUTER } from '../../support/gateways/hand-over.ts';
import { buyAt, numberEnding, untilTitled } from '../../support/pages/purchase.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';
import { ROUTER } from './portal.ts';

export interface PurchaseFixtures {
	server: TestServer;
	url: string;
	/** Path of a gateway's splash page. */
	splash: string;
	/** Path of the pass of who bought through the API, and signed in at a gateway. */
	pass: string;
	/** Paths of purchases by their state. */
	purchases: Readonly<Record<PurchaseName, string>>;
}

export type PurchaseName =
	| 'waiting'
	| 'slow'
	| 'active'
	/** More time was asked for, and the phone asks for the PIN. */
	| 'adding'
	/** User name and password for the page of a hotspot. */
	| 'hotspot'
	/** The code of the purchase for the page that a gateway opens. */
	| 'hotspot, code'
	| 'enterprise'
	| 'owner’s own password'
	/** Paid, and the gateway does not answer. */
	| 'activating'
	/** The gateway did not answer in time. */
	| 'not let in'
	| 'declined'
	| 'no funds'
	| 'refunded'
	| 'unknown'
	| 'too late'
	| 'over'
	| 'ended';

/** Demo routers. */
export const OFFLINE_ROUTER = 15;
export const SHARED_ROUTER = 16;
const HOTSPOT_ROUTER = 17;
const ENTERPRISE_ROUTER = 14;
/** Its gateway never answers. */
export const UNRESPONSIVE_ROUTER = 13;

const MINUTE = 60_000;
const lookAgainMs = 50;

/** Starts an installation and brings a purchase into each state. */
export async function startPurchaseFixtures(): Promise<PurchaseFixtures> {
	const server = await startServer();
	const { url } = server;
	const buy = async (digits: string, title: RegExp, router = ROUTER) => {
		const page = await buyAt(url, `/r/${router}`, numberEnding(digits));
		await untilTitled(url, page, title);
		return page;
	};

	await addDeadGateway(server);
	const splash = await handOver(server);

	// What takes time comes first; then the clock stands still, and what happens at once comes.
	const over = await buy('456', /^Your Wi‑Fi is paid until/);
	const notLetIn = await buy('008', /^You have paid/, UNRESPONSIVE_ROUTER);
	const late = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(11 * MINUTE);
	await untilTitled(url, late, /^We are still waiting for /);
	await untilTitled(url, notLetIn, /^You have been refunded/);
	await server.advance(51 * MINUTE);
	await untilTitled(url, over, /^Your time has ended/);
	const unknown = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(11 * MINUTE);
	await untilTitled(url, unknown, /^We are still waiting for /);
	const slow = await buy('003', /^Check your phone/);
	await asked(server);
	await server.advance(MINUTE);

	const ended = await buy('456', /^Your Wi‑Fi is paid until/);
	await fetch(`${url}${ended}?/end`, {
		method: 'POST',
		headers: { origin: url, accept: 'text/html' },
		// Without a body it is no form, and nothing is ended.
		body: new URLSearchParams()
	});
	await untilTitled(url, ended, /^You ended your time/);
	const adding = await buy('456', /^Your Wi‑Fi is paid until/);
	await buyAt(url, `${adding}?more`, numberEnding('003'));
	const [waiting, active, declined, noFunds, refunded] = await Promise.all([
		buy('003', /^Check your phone/),
		buy('456', /^Your Wi‑Fi is paid until/),
		buy('001', /^Payment declined/),
		buy('002', /^Not enough/),
		buy('009', /^You have been refunded/)
	]);
	const paid = /^Your Wi‑Fi is paid until/;
	const [hotspot, hotspotCode, enterprise, shared, activating] = await Promise.all([
		buy('456', paid, HOTSPOT_ROUTER),
		buy('456', paid, HAND_OVER_ROUTER),
		buy('456', paid, ENTERPRISE_ROUTER),
		buy('456', paid, SHARED_ROUTER),
		buy('456', /^You have paid/, UNRESPONSIVE_ROUTER)
	]);
	// As after three checks, a minute apart, in which it did not answer.
	await stopResponding(server);
	return {
		server,
		url,
		splash,
		pass: await signInAsGuest(server),
		purchases: {
			waiting,
			slow,
			active,
			adding,
			hotspot,
			'hotspot, code': hotspotCode,
			enterprise,
			'owner’s own password': shared,
			activating,
			'not let in': notLetIn,
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

/** Buys an hour through the API, and signs in with it on the page that a gateway opens. @returns the path of the pass */
export async function signInAsGuest(server: TestServer): Promise<string> {
	const visit = await handOver(server);
	const key = /^ +\S+@\S+ +app +(atl_test_\w+)$/m.exec(server.stdout())?.[1] ?? '';
	const call = async (where: string, body?: object) => {
		const response = await fetch(`${server.url}/v1${where}`, {
			method: body ? 'POST' : 'GET',
			headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
			...(body && { body: JSON.stringify(body) })
		});
		return z.record(z.string(), z.unknown()).parse(await response.json());
	};
	const phone = numberEnding('008');
	const order = { router_id: HAND_OVER_ROUTER, duration: '1h', payment_method: 'mobile_money', phone };
	const { id, amount } = await call('/sessions', order);
	const payment = await call('/payments/mobile-money', { amount, phone, session_id: id });
	await call(`/payments/${String(payment['id'])}/status?wait=20`);
	const { access, password } = await call(`/sessions/${String(id)}`);
	const response = await fetch(`${server.url}${visit}/sign-in`, {
		method: 'POST',
		redirect: 'manual',
		headers: { origin: server.url, accept: 'text/html' },
		body: new URLSearchParams({
			user: z.object({ username: z.string() }).parse(access).username,
			password: String(password)
		})
	});
	const pass = response.headers.get('location');
	if (!pass) throw new Error(`The guest was not signed in: ${response.status}`);
	return pass;
}

async function stopResponding(server: TestServer): Promise<void> {
	const sql = await openSql(server.databaseUrl);
	const since = Date.now();
	await sql.run("update gateways set unresponsive_since = ? where name = 'dead'", since);
	await sql.run('update routers set unresponsive_since = ? where id = ?', since, UNRESPONSIVE_ROUTER);
	await sql.close();
}

/** A gateway that is told who may be online, where nothing listens. */
async function addDeadGateway(server: TestServer): Promise<void> {
	const file = path.join(server.dataDir, 'dead.key');
	writeFileSync(file, 'obviously-fake-password\n', { mode: 0o600 });
	const hotspot = [
		'--router',
		String(UNRESPONSIVE_ROUTER),
		'--kind',
		'mikrotik',
		'--login-host',
		'10.5.50.1'
	];
	const api = [
		'--control',
		'rest',
		'--api',
		'http://127.0.0.1:9',
		'--api-user',
		'airtill',
		'--api-key-file',
		file
	];
	const { code, stderr } = await cli(['gateways', 'add', 'dead', ...hotspot, ...api], server);
	if (code !== 0) throw new Error(`gateways add: ${stderr}`);
}
