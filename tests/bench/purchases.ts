/**
 * `npm run bench:purchases`: whole purchases per second (order, payment, the operator's yes, pass) beside the durable
 * commits per second of the same disk and engine, in turns; and the payment status from two processes beside one, on
 * PostgreSQL. The sandbox operator says yes at once and runs in the same process.
 *
 * Options: --rounds N, --seconds N, --buyers N (at a time), --only sqlite|postgres, --json FILE. Run `npm run build` first.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { startServer } from '../support/server/server.ts';
import { createBuyers, type Buyers } from './support/buyers.ts';
import { figure, median, spread, writeJson } from './support/figures.ts';
import { placesOf } from './support/fill.ts';
import { cpuOf, postgresCommits, query, sqliteCommits } from './processes.ts';

const GOALS = { purchases: 0.25, processes: 1.7 };
const SECRET = { AIRTILL_SECRET: 'a secret of the bench, long enough' };

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '7' },
		seconds: { type: 'string', default: '4' },
		buyers: { type: 'string', default: '16' },
		only: { type: 'string' },
		json: { type: 'string' }
	}
});
const seconds = Number(values.seconds);
const atATime = Number(values.buyers);
const rounds = Array.from({ length: Number(values.rounds) }, (_, round) => round);
const results: Record<string, object> = {};

const postgres = values.only === 'sqlite' ? null : await startPostgres();
try {
	if (values.only !== 'postgres') await purchases('sqlite', null);
	if (postgres) {
		await purchases('postgres', postgres);
		await processes(postgres);
	}
	writeJson(values.json, { cores: availableParallelism(), buyers: atATime, ...results });
} finally {
	await postgres?.stop();
}

/** Calls per second while `atATime` callers each make one call after the other. */
async function rateOf(call: (caller: number) => Promise<unknown>): Promise<number> {
	const started = performance.now();
	let calls = 0;
	const caller = async (_: unknown, index: number) => {
		while (performance.now() - started < seconds * 1000) {
			await call(index);
			calls += 1;
		}
	};
	await Promise.all(Array.from({ length: atATime }, caller));
	return calls / ((performance.now() - started) / 1000);
}

async function purchases(engine: string, on: TestPostgres | null): Promise<void> {
	const database = on ? await on.createDatabase() : 'sqlite';
	const server = await startServer({ database, env: SECRET });
	try {
		const { buy } = await createBuyers(server, placesOf(1));
		const raw = () =>
			on ? postgresCommits(database, seconds, atATime) : sqliteCommits(server.dataDir, seconds);
		await rateOf(() => buy());
		const [commits, bought, busy]: [number[], number[], number[]] = [[], [], []];
		const synced: number[] = [];
		const repeated: number[] = [];
		for (let round = 0; round < rounds.length; round += 1) {
			commits.push(await raw());
			const [cpu, before] = [cpuOf(server.pid), await countersOf(on && database)];
			const rate = await rateOf(() => buy());
			const after = await countersOf(on && database);
			bought.push(rate);
			busy.push((cpuOf(server.pid) - cpu) / seconds);
			synced.push((after.syncs - before.syncs) / (rate * seconds));
			repeated.push((after.repeated - before.repeated) / (rate * seconds));
		}
		const ratios = bought.map((rate, round) => rate / (commits[round] ?? Number.NaN));
		console.log(`${engine}: ${spread(bought, 'purchases/s')} by ${atATime} buyers at a time`);
		console.log(`  durable commits: ${spread(commits, '/s')}`);
		console.log(
			`  ${spread(ratios, 'purchases per commit', 3)}, goal ${GOALS.purchases}: ${verdict(ratios, GOALS.purchases)}`
		);
		console.log(`  the server used ${spread(busy, 'of a core', 2)}`);
		if (on) {
			console.log(`  ${spread(synced, 'writes to the disk per purchase', 1)}`);
			console.log(`  ${spread(repeated, 'transactions per purchase were repeated', 1)}`);
		}
		const figures = { purchases: bought, commits, ratios, busy, ...(on ? { synced, repeated } : {}) };
		results[engine] = Object.fromEntries(Object.entries(figures).map(([name, list]) => [name, figure(list)]));
	} finally {
		await server.stop();
	}
}

/** Counters of PostgreSQL since its start. */
async function countersOf(url: string | null): Promise<{ syncs: number; repeated: number }> {
	if (url === null) return { syncs: 0, repeated: 0 };
	const [row] = await query(
		url,
		`select wal_sync as syncs, xact_rollback as repeated from pg_stat_wal, pg_stat_database
			where datname = current_database()`
	);
	return { syncs: Number(row?.['syncs']), repeated: Number(row?.['repeated']) };
}

/** Two processes need two cores, and the database and this program more: with fewer, see the CPU time per call. */
async function processes(on: TestPostgres): Promise<void> {
	const database = await on.createDatabase();
	const first = await startServer({ database, env: SECRET });
	const second = await startServer({ database, env: SECRET });
	try {
		const buyers: Buyers[] = [await createBuyers(first, placesOf(1))];
		// Only the first process prints the key.
		buyers.push(await createBuyers({ ...second, stdout: first.stdout }, placesOf(1)));
		const [one, two, perCore]: [number[], number[], number[]] = [[], [], []];
		const cpu = () => cpuOf(first.pid) + cpuOf(second.pid);
		for (const round of [-1, ...rounds]) {
			const start = cpu();
			const alone = await rateOf(() => buyers[0]?.poll() ?? Promise.resolve());
			const middle = cpu();
			const both = await rateOf((caller) => buyers[caller % 2]?.poll() ?? Promise.resolve());
			if (round < 0) continue;
			one.push(alone);
			two.push(both);
			perCore.push(both / (cpu() - middle) / (alone / (middle - start)));
		}
		const ratios = two.map((rate, round) => rate / (one[round] ?? Number.NaN));
		console.log(
			`two processes: ${spread(ratios, 'times the calls of one', 2)} on ${availableParallelism()} cores`
		);
		console.log(`  goal ${GOALS.processes}: ${verdict(ratios, GOALS.processes)}`);
		console.log(`  ${spread(perCore, 'times the calls of one per CPU second', 2)}`);
		results['processes'] = { ratios: figure(ratios), perCpuSecond: figure(perCore) };
	} finally {
		await Promise.all([first.stop(), second.stop()]);
	}
}

function verdict(ratios: readonly number[], goal: number): string {
	return median(ratios) >= goal ? 'met' : 'MISSED';
}
