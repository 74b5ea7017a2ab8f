import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RatePlan } from '#lib/server/accounts/accounts.ts';
import { type KeyMode, generateKey, keyHint } from '#lib/server/developer/api-keys.ts';
import type { Role, Scope } from '#lib/server/contract/scopes.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { isAll } from '../all.ts';
import { createApi, numberEnding, type Api, type Order, type Payment, type Session } from '../api/api.ts';
import { startServer, type ServerOptions, type TestServer } from './server.ts';
import { openSql, type Sql } from '../database/sql.ts';

/** For rules that depend on the database: queries, races, recovery, one purchase. */
export const BOTH_DATABASES = ['sqlite', 'postgres'] as const;

/** For rules whose queries could differ: SQLite, and PostgreSQL too with `npm test -- --all`. Others need SQLite only. */
export const DATABASES = isAll ? BOTH_DATABASES : (['sqlite'] as const);

/**
 * For slow rules without money: `it` with `npm test -- --all`, else nothing. Not skipped: a skipped test is one that could
 * not run.
 */
export const itWithAll: (title: string, test: () => Promise<void>, limitMs?: number) => void = isAll
	? (title, test, limitMs) => it(title, test, limitMs)
	: () => {};

/** Whether what does not depend on the database runs on this one; for a suite whose races run on both. */
export const runsAllOn = (database: string): boolean => database === 'sqlite';

/** The same in all processes that share a database. */
export const SECRET = 'a secret of the tests, long enough';

/** A server with a database of its own, demo data in it, and callers. */
export interface Fixture {
	server: TestServer;
	sql: Sql;
	/** An account that buys. */
	api: Api;
	/** Another one. */
	other: Api;
	/** The demo account that owns every demo router. */
	owner: Api;
	admin: Api;
	/** Without a key. */
	nobody: Api;
	/** Makes a key, by default of a new account. */
	newKey(options?: KeyOptions): Promise<NewKey>;
	/** Buys time with a number that pays at once; the session is active. */
	buy(order?: Partial<Order>): Promise<{ session: Session; payment: Payment }>;
	/** Waits until the operator has a payment: one whose time is over before that is not asked for at all. */
	asked(payment: Payment): Promise<void>;
	/** Waits until the operator has a payment, and moves the clock on until it has decided. */
	decided(payment: Payment): Promise<Payment>;
	/** Waits until a session of any account has a status. */
	becomes(sessionId: number, status: Session['status']): Promise<unknown>;
	/** Types of the events of a session, sorted: those of one transaction have one moment. */
	events(sessionId: number): Promise<string[]>;
	stop(): Promise<void>;
}

interface KeyOptions {
	accountId?: number;
	role?: Role;
	accountRole?: Role;
	scopes?: Scope[];
	/** The default is enterprise. */
	plan?: RatePlan;
	status?: 'active' | 'suspended';
	mode?: KeyMode;
	expiresAt?: number;
	revokedAt?: number;
}

export interface NewKey {
	accountId: number;
	key: string;
	api: Api;
}

const limitMs = 60_000;
/** Between two looks, at first and at last: one that waits for seconds leaves the processor to what it waits for. */
const [soonestMs, latestMs] = [10, 100];
/** First look of the reconciler after a start, and the sandbox's answer, lie before this. */
const decisionMs = 3_000;

/** Asks again until `look` answers something that is there: not null, false or 0. */
export async function eventually<T>(
	what: string,
	look: () => Promise<T | null | undefined | false | 0>
): Promise<T> {
	const deadline = performance.now() + limitMs;
	for (let pauseMs = soonestMs; ; pauseMs = Math.min(pauseMs * 1.5, latestMs)) {
		const found = await look();
		if (found) return found;
		if (performance.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what}`);
		await sleep(pauseMs);
	}
}

/** The key of a demo account, as the server prints it. */
export function demoKey(server: TestServer, role: Role): string {
	const key = new RegExp(`^ +\\S+@\\S+ +${role} +(atl_test_\\w+)$`, 'm').exec(server.stdout())?.[1];
	if (!key) throw new Error(`No demo sign-in of role ${role} in:\n${server.stdout()}`);
	return key;
}

/** Writes a key of an account into the database; there is no API for it. */
export async function insertKey(
	sql: Sql,
	options: KeyOptions = {}
): Promise<{ accountId: number; key: string }> {
	const role = options.role ?? 'app';
	const key = generateKey(options.mode ?? 'test');
	const now = Date.now();
	const accountId =
		options.accountId ??
		(await sql.count(
			`insert into accounts (email, role, plan, status, created_at)
				values (?, ?, ?, ?, ?) returning id`,
			`${sha256(key).slice(0, 12)}@tests.invalid`,
			options.accountRole ?? role,
			options.plan ?? 'enterprise',
			options.status ?? 'active',
			now
		));
	await sql.run(
		`insert into api_keys (account_id, name, hash, hint, role, scopes, created_at, expires_at, revoked_at)
			values (?, 'test', ?, ?, ?, ?, ?, ?, ?)`,
		accountId,
		sha256(key),
		keyHint(key),
		role,
		JSON.stringify(options.scopes ?? []),
		now,
		options.expiresAt ?? null,
		options.revokedAt ?? null
	);
	return { accountId, key };
}

export async function startFixture(options: ServerOptions): Promise<Fixture> {
	const server = await startServer({ ...options, env: { AIRTILL_SECRET: SECRET, ...options.env } });
	const sql = await openSql(server.databaseUrl);
	const newKey = async (keyOptions?: KeyOptions): Promise<NewKey> => {
		const made = await insertKey(sql, keyOptions);
		return { ...made, api: createApi(server.url, made.key) };
	};
	const [{ api }, { api: other }] = [await newKey(), await newKey()];
	const admin = createApi(server.url, demoKey(server, 'admin'));
	const asked = async ({ id }: Payment): Promise<void> => {
		await eventually(`payment ${id} is with the operator`, () => queued(sql, id));
	};
	return {
		server,
		sql,
		api,
		other,
		owner: createApi(server.url, demoKey(server, 'owner')),
		admin,
		nobody: createApi(server.url, null),
		newKey,
		async buy(order) {
			const session = await api.createSession({ phone: numberEnding('008'), ...order });
			const payment = await api.getPayment((await api.pay(session)).id, 20);
			expect(payment).toMatchObject({ status: 'success', applied: true });
			// Callbacks for this number arrive before the submit response: no request may still be in flight.
			await eventually(`payment ${payment.id} is quiet`, async () => {
				const [row] = await sql.all('select submit_state from payments where id = ?', payment.id);
				return row?.['submit_state'] === 'accepted';
			});
			return { session: await api.getSession(session.id), payment };
		},
		asked,
		async decided(payment) {
			await asked(payment);
			await server.advance(decisionMs);
			return api.getPayment(payment.id, 20);
		},
		becomes: (id, status) =>
			eventually(`session ${id} is ${status}`, async () => (await admin.getSession(id)).status === status),
		events: (sessionId) => eventsOf(sql, sessionId),
		async stop() {
			await sql.close();
			await server.stop();
		}
	};
}

/** The sandbox operator's record of a payment, once it has taken it on. */
async function queued(sql: Sql, paymentId: number) {
	const [row] = await sql.all(
		`select c.* from sandbox_charges c join payments p on p.reference = c.reference
			where p.id = ? and c.queued_at is not null`,
		paymentId
	);
	return row;
}

async function eventsOf(sql: Sql, sessionId: number): Promise<string[]> {
	const rows = await sql.all('select type from events where session_id = ? order by type', sessionId);
	return rows.map(({ type }) => String(type));
}

/** A fixture for the tests of one `describe`: started before them, stopped after them. */
export const useFixture = (options: ServerOptions): (() => Fixture) =>
	fixtureOf(options, beforeAll, afterAll);

/** A fixture for each test of one `describe`. */
export const useNewFixtures = (options: ServerOptions): (() => Fixture) =>
	fixtureOf(options, beforeEach, afterEach);

function fixtureOf(
	options: ServerOptions,
	before: (start: () => Promise<void>) => void,
	after: (stop: () => Promise<void> | undefined) => void
): () => Fixture {
	let fixture: Fixture | null = null;
	before(async () => {
		fixture = await startFixture(options);
	});
	after(() => fixture?.stop());
	return () => {
		if (!fixture) throw new Error('The fixture starts before the tests, not while they are collected');
		return fixture;
	};
}

/** Longer than a due job waits for its turn. */
const soonMs = 400;

/** Everything that a refused call must leave as it is, once no job is at work or due soon. (What operators send
 * comes when it comes: it is not in it.) */
export async function recorded({ sql, server }: Fixture): Promise<Record<string, unknown>> {
	await eventually('no job is due', async () => {
		const soon = server.now() + soonMs;
		return (await sql.count('select count(*) from jobs where run_at <= ? or lease_until > 0', soon)) === 0;
	});
	const found: Record<string, unknown> = {};
	for (const table of [
		...['sessions', 'payments', 'refunds', 'events', 'purchases', 'routers', 'price_changes'],
		...['webhook_endpoints']
	]) {
		found[table] = await sql.all(`select * from ${table} order by id`);
	}
	return found;
}
