/**
 * A storm of payouts: runs of an administrator, killed at random moments, with an operator that loses, repeats and refuses.
 * The operator's books are the truth: each owner got what the platform owed, once, or a person was told.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startSimulator, type Simulator } from '../simulators/simulator.ts';
import type { Script } from '../simulators/script.ts';
import { startPostgres } from '../support/database/postgres.ts';
import { openSql, type Row, type Sql } from '../support/database/sql.ts';
import { administratorOf } from '../support/pages/administrator.ts';
import { type Browsing, browse } from '../support/pages/browsing.ts';
import { payOut } from '../support/pages/payouts.ts';
import { sequence } from '../support/random.ts';
import { freePort } from '../support/server/ports.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { judgeBooks } from './books.ts';
import { OPERATORS, type TorturedOperator } from './operators.ts';
import { type Chance, pick, whole } from './scripts.ts';
import { type Clocks, advance, letTimePass } from './time.ts';
import type { Verdict } from './verdict.ts';

export const PAYOUT_DATABASES = ['sqlite', 'postgres'] as const;
export const PAYOUT_OPERATORS = ['mtn', 'pawapay'] as const;

interface StormOptions {
	/** Owners to be paid. */
	payouts: number;
	kills: number;
	database: (typeof PAYOUT_DATABASES)[number];
	operator: string;
	seed: number;
}

export interface PayoutResult extends Verdict {
	/** That owners got. */
	paid: number;
}

const PAUSES_MS = [0, 1_000, 4_000, 9_000, 20_000, 61_000, 5 * 60_000];
const LAST_RUNS = 6;
const OWED = 450;

export async function torturePayouts(options: StormOptions): Promise<PayoutResult> {
	const operator = OPERATORS[options.operator];
	if (!operator) throw new Error(`There is no operator ${options.operator}`);
	const postgres = options.database === 'postgres' ? await startPostgres() : null;
	const simulator = await startSimulator(operator.protocol());
	const servers: TestServer[] = [];
	try {
		const database = postgres ? await postgres.createDatabase() : 'sqlite';
		const env = {
			...simulator.environment,
			PAYMENT_METHODS: operator.method,
			AIRTILL_SECRET: 'a secret of the torture, long enough',
			AIRTILL_LOG_LEVEL: 'silent',
			// Its sales are copied.
			AIRTILL_DEMO: 'on',
			OPERATOR_TIMEOUT_SECONDS: '1'
		};
		for (let count = 0; count < (postgres ? 2 : 1); count += 1) {
			servers.push(await startServer({ database, env, port: await freePort() }));
		}
		return await storm(options, operator, { simulator, servers, killDatabase: postgres });
	} finally {
		await Promise.all(servers.map((server) => server.stop()));
		await simulator.stop();
		await postgres?.stop();
	}
}

interface Setup {
	simulator: Simulator;
	servers: readonly TestServer[];
	killDatabase: { kill(): Promise<unknown>; restart(): Promise<unknown> } | null;
}

async function storm(options: StormOptions, operator: TorturedOperator, setup: Setup): Promise<PayoutResult> {
	const { simulator, servers } = setup;
	const [first] = servers;
	if (!first) throw new Error('no process');
	const chance = sequence(options.seed);
	const advanceAll = async (ms: number) => void (await Promise.all(servers.map((one) => one.advance(ms))));
	const clocks: Clocks = { simulator, server: { env: first.env, advance: advanceAll } };
	let sql = await openSql(first.databaseUrl);
	try {
		const admin = await administratorOf(first);
		await operator.enterAddress(simulator, first);
		const owners = await addOwners(sql, options.payouts);
		const waiting = [...owners];
		for (let kill = 1; kill <= options.kills; kill += 1) {
			const next = waiting.splice(0, Math.ceil(waiting.length / (options.kills - kill + 1)));
			for (const [index, owner] of next.entries()) {
				const phone = operator.phone(kill * 1_000 + index);
				await setPhone(sql, owner, phone);
				simulator.script({ phone: phone.slice(1), times: 1 }, randomScript(chance, operator));
			}
			const run = payOut(first, {}, at(admin, pick(chance, servers))).catch(() => null);
			await sleep(whole(chance, 0, 700));
			await strike(setup, chance);
			await run;
			// Its connection ended with the database.
			await sql.close().catch(() => {});
			sql = await openSql(first.databaseUrl);
			await advance(clocks, pick(chance, PAUSES_MS));
		}
		simulator.outage(null);
		let open = await letTimePass(clocks, sql);
		// What failed is paid with the next runs, whose requests go well.
		for (let run = 0; run < LAST_RUNS; run += 1) {
			await payOut(first, {}, admin);
			open = await letTimePass(clocks, sql);
		}
		const verdict = await compare(simulator, sql, owners);
		verdict.wrong.push(...(await judgeBooks(first.databaseUrl)));
		if (open > 0) verdict.wrong.push(`${open} jobs about money never end`);
		return { ...verdict, paid: await sql.count("select count(*) from payouts where status = 'paid'") };
	} finally {
		await sql.close();
	}
}

/** The same person at another process. */
function at(admin: Browsing, server: TestServer): Browsing {
	const other = browse(server.url);
	for (const cookie of admin.cookies) other.cookies.set(...cookie);
	return other;
}

async function strike({ servers, simulator, killDatabase }: Setup, chance: Chance): Promise<void> {
	simulator.outage(chance() < 0.15 ? pick(chance, ['refuse', 'error']) : null);
	if (chance() < 0.1) simulator.expireTokens();
	const onDatabase = killDatabase !== null && chance() < 0.3;
	const struck = onDatabase && chance() < 0.5 ? [] : chance() < 0.3 ? servers : [pick(chance, servers)];
	await Promise.all(struck.map((server) => server.kill('SIGKILL')));
	if (onDatabase) {
		await killDatabase.kill();
		await killDatabase.restart();
	}
	await Promise.all(struck.map((server) => server.restart()));
}

/** Requests end one day: the next one with the same reference goes well. */
function randomScript(chance: Chance, { failures, refusals }: TorturedOperator): Partial<Script> {
	const faults = ['drop_before', 'drop_after', 'slow', 'error_before', 'error_after', 'not_json'] as const;
	const submit = chance() < 0.4 ? 'accept' : pick(chance, [...faults, 'rate_limited', 'refuse'] as const);
	return {
		submit,
		submitCode: submit === 'refuse' ? pick(chance, refusals) : '',
		slowMs: 1_400,
		outcome: chance() < 0.8 ? 'success' : pick(chance, failures),
		afterMs: pick(chance, [0, 0, 1_000, 20_000, 10 * 60_000, 3 * 60 * 60_000]),
		notFoundReads: chance() < 0.2 ? whole(chance, 1, 3) : 0,
		failedReads: chance() < 0.2 ? whole(chance, 1, 3) : 0,
		otherForm: chance() < 0.2
	};
}

/** Owners with one sale each, of which the platform owes OWED. */
async function addOwners(sql: Sql, count: number): Promise<number[]> {
	const copy = async (table: string, row: Row, different: Record<string, string | number | null>) => {
		const columns = Object.fromEntries(
			Object.entries({ ...row, ...different }).filter(([name]) => name !== 'id')
		);
		const names = Object.keys(columns);
		return sql.count(
			`insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) returning id`,
			...(Object.values(columns) as (string | number | null)[])
		);
	};
	const first = async (select: string) => {
		const [row] = await sql.all(select);
		if (!row) throw new Error(`Nothing found: ${select}`);
		return row;
	};
	const account = await first("select * from accounts where role = 'owner' order by id limit 1");
	const router = await first('select * from routers order by id limit 1');
	const payment = await first("select * from payments where status = 'success' and applied = 1 limit 1");
	const session = await first(`select * from sessions where id = ${String(payment['session_id'])}`);
	const owners: number[] = [];
	for (let index = 0; index < count; index += 1) {
		const owner = await copy('accounts', account, { email: `payee${index}@people.example` });
		const routerId = await copy('routers', router, { external_id: null, owner_account_id: owner });
		const sessionId = await copy('sessions', session, { router_id: routerId, payment_id: null });
		await copy('payments', payment, {
			...{ session_id: sessionId, reference: `payee-${index}`, provider_reference: `PAYEE${index}` },
			...{ amount_minor: 500, settled_minor: 500, commission_basis_points: 1_000, operator_reference: null }
		});
		owners.push(owner);
	}
	return owners;
}

const setPhone = (sql: Sql, owner: number, phone: string) =>
	sql.run(
		`insert into payout_destinations (owner_account_id, method, address, account_id, usable_at, created_at)
			values (?, 'mtn_momo', ?, ?, 0, 0)`,
		...[owner, phone, owner]
	);

async function compare({ books }: Simulator, sql: Sql, owners: readonly number[]): Promise<Verdict> {
	const verdict: Verdict = { lost: [], doubled: [], wrong: [] };
	const rows = await sql.all('select * from payouts order by id');
	const byReference = new Map(rows.map((row) => [String(row['reference']), row]));
	const audited = await sql.all(`select after from audit_log where action = 'payout.paid'`);
	const told = audited.map(({ after }) =>
		Number((JSON.parse(String(after)) as { payout_id: number }).payout_id)
	);
	const got = new Map<number, number>();
	const seen = new Set<string>();
	for (const sent of books.payouts) {
		const row = byReference.get(sent.reference);
		const isPaid = books.payoutOutcome(sent) === 'success';
		const what = `payout ${String(row?.['id'])} (${String(row?.['status'])}, ${sent.reference})`;
		if (seen.has(sent.reference)) verdict.doubled.push(`${what}: sent twice`);
		seen.add(sent.reference);
		if (!row) verdict.lost.push(`${sent.reference}: the operator has it, and we do not`);
		else if (isPaid !== (row['status'] === 'paid'))
			verdict.lost.push(`${what}: at the operator it is ${isPaid}`);
		const owner = Number(row?.['owner_account_id']);
		if (isPaid) got.set(owner, (got.get(owner) ?? 0) + sent.amount);
	}
	for (const row of rows) {
		const what = `payout ${String(row['id'])}`;
		if (row['status'] === 'paid' && !seen.has(String(row['reference'])))
			verdict.lost.push(`${what}: never sent`);
		if (row['status'] !== 'paid' && row['status'] !== 'failed')
			verdict.wrong.push(`${what} is ${String(row['status'])}`);
		const times = told.filter((id) => id === Number(row['id'])).length;
		if (times !== (row['status'] === 'paid' ? 1 : 0)) verdict.wrong.push(`${what}: audited ${times} times`);
	}
	for (const owner of owners) {
		const sum = got.get(owner) ?? 0;
		if (sum > OWED) verdict.doubled.push(`owner ${owner} got ${sum}`);
		if (sum < OWED) verdict.lost.push(`owner ${owner} got ${sum}`);
	}
	const reviews = await sql.all("select subject, reason, detail from reviews where subject like 'payout %'");
	verdict.wrong.push(...reviews.map((review) => JSON.stringify(review)));
	return verdict;
}
