/**
 * The built server under a storm of purchases, killed at random moments, with an operator that plays every trick it
 * knows. The operator runs in this process and is never killed: its books are the truth. On PostgreSQL three equal
 * processes serve behind a proxy: mostly one of them is killed, at times all, at times the database server. With a
 * standby, that does not come back: the standby is promoted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKey, keyHint } from '../../src/lib/server/developer/api-keys.ts';
import { sha256 } from '../../src/lib/server/platform/secrets.ts';
import { type Simulator, startSimulator } from '../simulators/simulator.ts';
import { startPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { startReplicated } from '../support/database/standby.ts';
import { sequence } from '../support/random.ts';
import { startReceiver, type Receiver } from '../support/api/receiver.ts';
import { freePort } from '../support/server/ports.ts';
import { startProxy } from '../support/server/proxy.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { openSql, type Sql } from '../support/database/sql.ts';
import { createClient, type Client } from './client.ts';
import { judgeBooks } from './books.ts';
import { judgeEarnings } from './earnings.ts';
import { OPERATORS, type TorturedOperator } from './operators.ts';
import { pick, whole, type Chance } from './scripts.ts';
import { startStorm, type Promises, type Storm } from './storm.ts';
import { advance, letTimePass, serverNow, type Clocks } from './time.ts';
import { compare, type Verdict } from './verdict.ts';
import { EVENTS, HOOK, judgeWebhooks } from './webhooks.ts';

export const TORTURED_DATABASES = ['sqlite', 'postgres', 'standby'] as const;
export type TorturedDatabase = (typeof TORTURED_DATABASES)[number];

interface TortureOptions {
	kills: number;
	database: TorturedDatabase;
	/** Of a PostgreSQL that runs already, with the tables of a new city; it is not killed. */
	url?: string | undefined;
	operator: string;
	seed: number;
	/** Hears how far it is. */
	say?: (line: string) => void;
}

export interface TortureResult extends Verdict {
	kills: number;
	databaseKills: number;
	purchases: number;
	/** Payments at the operator, and those that took money. */
	charges: number;
	taken: number;
}

const BUYERS = 16;
const PROCESSES = { sqlite: 1, postgres: 3, standby: 3 } as const;
const START = { sqlite: () => null, postgres: startPostgres, standby: startReplicated } as const;
const SAY_EVERY = 10;
/**
 * How long a server lives: so many answers, and a little longer. (Time alone would mean nothing on a busy machine.)
 */
const LIFE_ANSWERS = [0, 60] as const;
const LIFE_MS = [0, 80] as const;
const LIFE_LIMIT_MS = 3_000;
const LOOK_MS = 5;
/** Between a kill and the next start: leases run out after 8 s, a request counts as lost after 60 s. */
const PAUSES_MS = [0, 0, 1_000, 4_000, 9_000, 20_000, 61_000];
const LONG_PAUSES_MS = [5 * 60_000, 11 * 60_000, 40 * 60_000];

/** @throws Error when the server does not come up again, which is a fault too */
export async function torture(options: TortureOptions): Promise<TortureResult> {
	const operator = OPERATORS[options.operator];
	if (!operator) throw new Error(`The operators are ${Object.keys(OPERATORS).join(', ')}.`);
	const chance = sequence(options.seed);
	const postgres = options.url === undefined ? await START[options.database]() : null;
	const simulator = await startSimulator(operator.protocol());
	const receiver = await startReceiver();
	const ports = await Promise.all(Array.from({ length: PROCESSES[options.database] }, freePort));
	const proxy = await startProxy(ports.map((port) => `http://127.0.0.1:${port}`));
	const servers: TestServer[] = [];
	try {
		const database = options.url ?? (postgres ? await postgres.createDatabase() : 'sqlite');
		const env = {
			...simulator.environment,
			PAYMENT_METHODS: operator.method,
			AIRTILL_SECRET: 'a secret of the torture, long enough',
			AIRTILL_LOG_LEVEL: 'silent',
			CALLBACK_URL: proxy.url,
			OPERATOR_TIMEOUT_SECONDS: '1',
			PAYER_PROMPTS: '1000',
			WEBHOOK_ALLOW_INSECURE: '1'
		};
		for (const port of ports) servers.push(await startServer({ database, env, port }));
		// Its checks have failed so far: without a process that it knows to be ready it answers 503.
		while (!servers.every((server) => proxy.sendsTo(server.url))) await sleep(LOOK_MS);
		return await run({ options, operator, chance, postgres, simulator, receiver, servers, url: proxy.url });
	} finally {
		await Promise.all(servers.map((server) => server.stop()));
		await proxy.stop();
		await receiver.stop();
		await simulator.stop();
		await postgres?.stop();
	}
}

interface Setup {
	options: TortureOptions;
	operator: TorturedOperator;
	chance: Chance;
	postgres: TestPostgres | null;
	simulator: Simulator;
	receiver: Receiver;
	servers: readonly TestServer[];
	/** Of the proxy in front of them. */
	url: string;
}

function clocksOf({ servers, simulator }: Pick<Setup, 'servers' | 'simulator'>): Clocks {
	const advanceAll = async (ms: number) => {
		await Promise.all(servers.map((server) => server.advance(ms)));
	};
	return { simulator, server: { env: servers[0]?.env ?? {}, advance: advanceAll } };
}

async function run(setup: Setup): Promise<TortureResult> {
	const { options, operator, chance, simulator, servers, url, receiver } = setup;
	const clocks = clocksOf(setup);
	const [first] = servers;
	if (!first) throw new Error('no process');
	const { databaseUrl } = first;
	const from = serverNow(clocks.server);
	const { buyer, owner, routers } = await makeClients(url, databaseUrl);
	const { status } = await buyer.send('POST', '/v1/webhooks/register', {
		body: { url: receiver.url + HOOK, events: EVENTS }
	});
	if (status !== 201) throw new Error(`The webhook was not registered: ${status}`);
	await operator.enterAddress(simulator, first);
	const storm = startStorm({ client: buyer, simulator, operator, chance, routers, buyers: BUYERS });
	let databaseKills = 0;
	for (let kills = 1; kills <= options.kills; kills += 1) {
		await live(storm, chance);
		databaseKills += (await strike(setup)) ? 1 : 0;
		if (kills % SAY_EVERY === 0) {
			options.say?.(
				`${kills} kills, ${storm.promises.sessions.size} purchases, ${databaseKills} database kills`
			);
		}
	}
	await storm.stop();
	simulator.outage(null);
	options.say?.('the storm is over; time passes');
	const sql = await openSql(databaseUrl);
	try {
		const open = await letTimePass(clocks, sql);
		const verdict = await compare(simulator, operator, sql);
		verdict.wrong.push(
			...(await keptPromises(storm.promises, buyer, sql)),
			...(await judgeEarnings(owner, sql, { from, until: serverNow(clocks.server) })),
			...(await judgeBooks(databaseUrl)),
			...(await judgeWebhooks(receiver, clocks, sql)),
			...storm.promises.complaints
		);
		if (open > 0) verdict.wrong.push(`${open} jobs about money never end`);
		return {
			...verdict,
			kills: options.kills,
			databaseKills,
			purchases: storm.promises.sessions.size,
			charges: simulator.books.payments.length,
			taken: simulator.ledger().payments
		};
	} finally {
		await sql.close();
	}
}

async function live(storm: Storm, chance: Chance): Promise<void> {
	const enough = storm.answers() + whole(chance, ...LIFE_ANSWERS);
	const limit = performance.now() + LIFE_LIMIT_MS;
	while (storm.answers() < enough && performance.now() < limit) await sleep(LOOK_MS);
	await sleep(whole(chance, ...LIFE_MS));
}

/** Kills something and brings it back. @returns whether the database was killed */
async function strike(setup: Setup): Promise<boolean> {
	const { chance, postgres, simulator, servers } = setup;
	if (chance() < 0.15) simulator.outage(pick(chance, ['refuse', 'error']));
	else simulator.outage(null);
	if (chance() < 0.1) simulator.expireTokens();
	const onDatabase = postgres !== null && chance() < 0.3;
	const onServer = !onDatabase || chance() < 0.5;
	const struck = !onServer ? [] : chance() < 0.2 ? servers : [pick(chance, servers)];
	const killed = struck.map((server) => server.kill('SIGKILL'));
	if (onDatabase) killed.push(postgres.kill());
	await Promise.all(killed);
	if (onDatabase) {
		await sleep(whole(chance, 0, 200));
		await postgres.restart();
	}
	await advance(clocksOf(setup), chance() < 0.12 ? pick(chance, LONG_PAUSES_MS) : pick(chance, PAUSES_MS));
	await Promise.all(struck.map((server) => server.restart()));
	return onDatabase;
}

async function makeClients(url: string, databaseUrl: string) {
	const sql = await openSql(databaseUrl);
	const keyFor = async (accountId: number, role: string) => {
		const key = generateKey('test');
		await sql.run(
			`insert into api_keys (account_id, name, hash, hint, role, scopes, created_at)
				values (?, 'torture', ?, ?, ?, '[]', ?)`,
			accountId,
			sha256(key),
			keyHint(key),
			role,
			Date.now()
		);
		return createClient(url, key);
	};
	try {
		const accountOf = (role: string) => sql.count('select min(id) from accounts where role = ?', role);
		const ownerId = await sql.count('select min(owner_account_id) from routers');
		const routers = await sql.all('select id from routers order by id limit 7');
		return {
			buyer: await keyFor(await accountOf('app'), 'app'),
			owner: await keyFor(ownerId, 'owner'),
			routers: routers.map(({ id }) => Number(id))
		};
	} finally {
		await sql.close();
	}
}

/** Whatever was confirmed to somebody is there, and as it was confirmed. */
async function keptPromises(promises: Promises, buyer: Client, sql: Sql): Promise<string[]> {
	const broken: string[] = [];
	const paymentStatus = new Map(
		(await sql.all('select id, status from payments')).map(({ id, status }) => [Number(id), status])
	);
	for (const id of promises.payments) {
		const status = paymentStatus.get(id);
		const { body } = await buyer.send('GET', `/v1/payments/${id}/status`);
		if (status === undefined) broken.push(`payment ${id} was confirmed and is gone`);
		else if (body['status'] !== status)
			broken.push(`payment ${id} is ${String(status)}, told ${String(body['status'])}`);
	}
	for (const id of promises.sessions) {
		const { body } = await buyer.send('GET', `/v1/sessions/${id}`);
		if (body['id'] !== id) broken.push(`session ${id} was confirmed and is gone`);
		const told = promises.cancelled.has(id) ? 'cancelled' : promises.ended.has(id) ? 'ended' : body['status'];
		if (body['status'] !== told)
			broken.push(`session ${id} was told ${String(told)} and is ${String(body['status'])}`);
	}
	return broken;
}
