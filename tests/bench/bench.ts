/**
 * `npm run bench`: compares API reads (key, rate limit, request log, database) with an empty SvelteKit route. One process
 * of the built server, 32 connections, the load generator in its own process. The routes take turns in short rounds;
 * the result is the ratio within a round (median, smallest and largest), which depends little on the machine.
 *
 * Options: --database sqlite|postgres, --rounds N, --seconds N, --routers N, --connections N, --starts N,
 * --json FILE, --cpu-prof DIR (writes a profile of the server). Run
 * `npm run build` first.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { freePort } from '../support/server/ports.ts';
import { startPostgres } from '../support/database/postgres.ts';
import { addRouters, makePayments, searches } from './support/data.ts';
import { figure, median, spread, writeJson } from './support/figures.ts';
import type { Seen, Task } from './support/load.ts';
import { cpuOf, cpuOfPostgres } from './processes.ts';
import { demoKey, residentMb, startBenchServer, type BenchServer } from './support/server.ts';

const GOALS = { routers: 0.5, status: 1, startMs: 400, idleMb: 80 };
/** Wait before idle memory is read. */
const REST_MS = 2_000;
const SEARCHES = 2_000;
const PAYMENTS = 50;

const { values } = parseArgs({
	options: {
		database: { type: 'string', default: 'sqlite' },
		rounds: { type: 'string', default: '7' },
		seconds: { type: 'string', default: '2' },
		routers: { type: 'string', default: '100000' },
		connections: { type: 'string', default: '32' },
		starts: { type: 'string', default: '5' },
		json: { type: 'string' },
		'cpu-prof': { type: 'string' }
	}
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

interface Subject {
	name: string;
	goal: number | null;
	paths: string[];
	key: string | null;
	/** Requests per second in each round. */
	rates: number[];
	/** CPU time of the server and of PostgreSQL per request in each round, in microseconds. */
	costs: number[];
}

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-bench-'));
const postgres = values.database === 'postgres' ? await startPostgres() : null;
try {
	const settings = {
		HOST: '127.0.0.1',
		DATABASE_URL: postgres ? await postgres.createDatabase() : `file:${folder}/airtill.db`,
		DATA_DIR: folder,
		AIRTILL_LOG_LEVEL: 'warn',
		RATE_LIMIT_DEFAULT: '1000000'
	};
	const first = await startBenchServer({ ...settings, PORT: String(await freePort()) });
	const key = await demoKey(first);
	await first.stop();
	await addRouters(settings.DATABASE_URL, Number(values.routers));

	const starts: number[] = [];
	const idle: number[] = [];
	for (let start = 0; start < Number(values.starts); start += 1) {
		const server = await startBenchServer({ ...settings, PORT: String(await freePort()) });
		starts.push(server.startMs);
		await sleep(REST_MS);
		idle.push(residentMb(server.child.pid ?? 0));
		await server.stop();
	}

	const profile = values['cpu-prof'];
	const server = await startBenchServer(
		{ ...settings, PORT: String(await freePort()) },
		profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profile)}`]
	);
	const payments = await makePayments(`http://127.0.0.1:${server.port}`, key, PAYMENTS);
	const subjects: Subject[] = [
		subject('empty route', null, ['/healthz'], null),
		subject('GET /v1/routers', GOALS.routers, searches(SEARCHES), key),
		subject('GET /v1/payments/{id}/status', GOALS.status, payments, key)
	];
	const busy = await measure(server, subjects, settings.DATABASE_URL);
	const loadedMb = residentMb(server.child.pid ?? 0);
	await server.stop();

	report(subjects);
	writeJson(values.json, {
		routes: subjects.map(({ name, rates, costs }) => ({
			name,
			perSecond: figure(rates),
			cpuMicroseconds: figure(costs)
		})),
		startMs: figure(starts),
		idleMb: figure(idle),
		loadedMb
	});
	console.log(
		`\nstart ${spread(starts, 'ms')} (goal ${GOALS.startMs})\nidle memory ${spread(idle, 'MB')} (goal ${GOALS.idleMb}), ` +
			`after the load ${loadedMb.toFixed(0)} MB\nload generator: at most ${(100 * Math.max(...busy)).toFixed(0)} % of a core`
	);
} finally {
	await postgres?.stop();
	rmSync(folder, { recursive: true, force: true });
}

function subject(name: string, goal: number | null, paths: string[], key: string | null): Subject {
	return { name, goal, paths, key, rates: [], costs: [] };
}

/** @returns CPU use of the load generator in each round; 1 is one core */
async function measure(server: BenchServer, subjects: Subject[], databaseUrl: string): Promise<number[]> {
	const load = fork(fileURLToPath(new URL('support/load.ts', import.meta.url)), { stdio: 'inherit' });
	const busy: number[] = [];
	const ask = async ({ paths, key }: Subject, forSeconds: number): Promise<Seen> => {
		const task: Task = {
			port: server.port,
			connections: Number(values.connections),
			seconds: forSeconds,
			paths,
			key
		};
		load.send(task);
		const [seen] = (await once(load, 'message')) as [Seen];
		return seen;
	};
	// Warm-up: compiles code and prepares statements.
	for (const one of subjects) await ask(one, seconds);
	const cpuOfDatabase = postgres ? await cpuOfPostgres(databaseUrl) : () => 0;
	const usedSeconds = () => cpuOf(server.child.pid ?? 0) + cpuOfDatabase();
	for (let round = 0; round < rounds; round += 1) {
		for (const one of subjects) {
			const before = usedSeconds();
			const seen = await ask(one, seconds);
			one.rates.push(seen.requests / seen.seconds);
			one.costs.push(((usedSeconds() - before) * 1_000_000) / seen.requests);
			busy.push(seen.busy);
		}
	}
	load.disconnect();
	return busy;
}

function report(subjects: Subject[]) {
	const [empty] = subjects;
	if (!empty) return;
	console.log(
		`${values.database}, ${values.routers} routers, ${values.connections} connections, ${rounds} rounds of ${seconds} s\n`
	);
	for (const { name, goal, rates, costs } of subjects) {
		const ratios = rates.map((rate, round) => rate / (empty.rates[round] ?? rate));
		const cost = `${median(costs).toFixed(0)} µs of CPU time`.padStart(22);
		const judged = goal === null ? '' : `, goal ${goal}: ${verdict(ratios, goal)}`;
		const ratio = `${spread(ratios, 'of the empty route', 2)}${judged}`;
		console.log(`${name.padEnd(33)} ${`${median(rates).toFixed(0)}/s`.padStart(8)}${cost}   ${ratio}`);
	}
}

function verdict(ratios: number[], goal: number): string {
	return median(ratios) >= goal ? 'met' : 'MISSED';
}
