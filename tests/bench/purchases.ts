/**
 * `npm run bench:purchases`: whole purchases per second (order, payment, the operator's yes, pass) beside the durable
 * commits per second of the same disk and engine, in turns; and the payment status from two processes beside one, on
 * PostgreSQL. The sandbox operator says yes at once and runs in the same process.
 *
 * Options: --rounds N, --seconds N, --buyers N (at a time), --only sqlite|postgres, --json FILE. Run `npm run build` first.
 *
 * With --database postgres --processes 1,2,4: what so many processes on one PostgreSQL sell, in turns, after a warm-up of
 * --warm-up SECONDS (20) each, with the rollbacks and the statements of a purchase (without begin and commit). The last line
 * is the figures as JSON.
 */
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres, type TestPostgres } from '../support/database/postgres.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { createBuyer, createBuyers, type Buyers } from './support/buyers.ts';
import { figure, median, spread, writeJson } from './support/figures.ts';
import { placesOf } from './support/fill.ts';
import { demoKey } from './support/server.ts';
import { cpuOf, postgresCommits, query, sqliteCommits } from './processes.ts';

const GOALS = { purchases: 0.25, processes: 1.7 };
const SECRET = { AIRTILL_SECRET: 'a secret of the bench, long enough' };

const { values } = parseArgs({
	options: {
		rounds: { type: 'string', default: '7' },
		seconds: { type: 'string', default: '4' },
		buyers: { type: 'string', default: '16' },
		only: { type: 'string' },
		database: { type: 'string', default: 'postgres' },
		processes: { type: 'string' },
		'warm-up': { type: 'string', default: '20' },
		json: { type: 'string' }
	}
});
const seconds = Number(values.seconds);
const atATime = Number(values.buyers);
const rounds = Array.from({ length: Number(values.rounds) }, (_, round) => round);
const results: Record<string, object> = {};

const counts = values.processes?.split(',').map(Number) ?? [];
if (counts.length > 0 && values.database !== 'postgres') throw new Error('Several processes need PostgreSQL');

const postgres = values.only === 'sqlite' ? null : await startPostgres();
try {
	if (postgres && counts.length > 0) await scale(postgres, counts);
	else await compareEngines();
	writeJson(values.json, { cores: availableParallelism(), buyers: atATime, ...results });
	if (counts.length > 0) console.log(JSON.stringify(results));
} finally {
	await postgres?.stop();
}

async function compareEngines(): Promise<void> {
	if (values.only !== 'postgres') await purchases('sqlite', null);
	if (!postgres) return;
	await purchases('postgres', postgres);
	await processes(postgres);
}

/** So many processes on one PostgreSQL, with a database of their own. They stand still while others have their turn. */
async function startGroup(on: TestPostgres, count: number) {
	const database = await on.createDatabase();
	await query(database, 'create extension pg_stat_statements');
	const servers: TestServer[] = [];
	for (let number = 0; number < count; number += 1)
		servers.push(await startServer({ database, env: SECRET }));
	// Only the first process prints the key.
	const key = await demoKey(servers[0] as TestServer);
	const buyers = servers.map(({ url }) => createBuyer(url, key));
	const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
		for (const { pid } of servers) process.kill(pid, name);
	};
	const cpu = () => servers.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
	const readCounters = async () => {
		// PostgreSQL publishes its counters once a second, and jobs of the last purchases still run.
		await sleep(2_000);
		const [row] = await query(
			database,
			`select xact_rollback as rollbacks,
				(select sum(calls) from pg_stat_statements where dbid = datid) as statements
			from pg_stat_database where datname = current_database()`
		);
		return { rollbacks: Number(row?.['rollbacks']), statements: Number(row?.['statements']) };
	};
	return {
		count,
		async sell(forSeconds: number) {
			signal('SIGCONT');
			const [before, cpuBefore] = [await readCounters(), cpu()];
			let sold = 0;
			const perSecond = await rateOf(async (caller) => {
				await buyers[caller % count]?.buy();
				sold += 1;
			}, forSeconds);
			const [after, cpuAfter] = [await readCounters(), cpu()];
			signal('SIGSTOP');
			return {
				perSecond,
				rollbacks: (after.rollbacks - before.rollbacks) / sold,
				statements: (after.statements - before.statements) / sold,
				cpuMs: ((cpuAfter - cpuBefore) * 1000) / sold
			};
		},
		async stop() {
			signal('SIGCONT');
			await Promise.all(servers.map((server) => server.stop()));
		}
	};
}

async function scale(on: TestPostgres, processCounts: readonly number[]): Promise<void> {
	await query(on.url, "alter system set shared_preload_libraries = 'pg_stat_statements'");
	await on.restart();
	await query(on.url, 'alter system set pg_stat_statements.track_utility = off');
	await query(on.url, 'select pg_reload_conf()');
	const groups = [];
	try {
		for (const count of processCounts) {
			const group = await startGroup(on, count);
			groups.push(group);
			await group.sell(Number(values['warm-up']));
		}
		const turns = groups.map((group) => ({ group, sold: [] as Awaited<ReturnType<typeof group.sell>>[] }));
		for (let round = 0; round < rounds.length; round += 1) {
			for (const { group, sold } of turns) sold.push(await group.sell(seconds));
		}
		console.log(
			`${availableParallelism()} cores, shared with PostgreSQL and this program; ${atATime} buyers`
		);
		const figures = turns.map(({ group, sold }) => {
			const of = (name: 'perSecond' | 'rollbacks' | 'statements' | 'cpuMs') => sold.map((one) => one[name]);
			console.log(
				`${group.count} processes: ${spread(of('perSecond'), 'purchases/s', 1)}, ` +
					`${spread(of('rollbacks'), 'rollbacks', 3)}, ${spread(of('statements'), 'statements', 1)} and ` +
					`${spread(of('cpuMs'), 'ms of the processes', 1)} a purchase`
			);
			const [perSecond, rollbacks, statements] = [of('perSecond'), of('rollbacks'), of('statements')].map(
				median
			);
			return [group.count, { perSecond, rollbacks, statements }] as const;
		});
		results['processes'] = Object.fromEntries(figures);
	} finally {
		await Promise.all(groups.map((group) => group.stop()));
	}
}

/** Calls per second while `atATime` callers each make one call after the other. */
async function rateOf(
	call: (caller: number) => Promise<unknown>,
	forSeconds: number = seconds
): Promise<number> {
	const started = performance.now();
	let calls = 0;
	const caller = async (_: unknown, index: number) => {
		while (performance.now() - started < forSeconds * 1000) {
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
