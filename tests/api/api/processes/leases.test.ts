/** Several processes count one subject in PostgreSQL (rate-limits.ts), in windows so short that many of them pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { type Database, openDatabase } from '#lib/server/db/database.ts';
import { systemClock } from '#lib/server/platform/clock.ts';
import { type RateLimits, createRateLimits } from '#lib/server/rate-limits.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { random } from '../../../support/random.ts';

const WINDOW_MS = 600;
const SLOT_MS = WINDOW_MS / 60;
const LIMIT = 60;
const AT_ONCE = 12;
const RUN_MS = 4_000;

/** The moment of the decision is between the two. */
interface Asked {
	from: number;
	to: number;
	admitted: boolean;
	remaining: number;
}

const databases: Database[] = [];
const warnings: unknown[] = [];
let processes: RateLimits[];
beforeAll(async () => {
	const url = await createDatabaseOn(inject('postgresUrl'));
	for (let index = 0; index < 3; index += 1) {
		databases.push(await openDatabase(url, { poolSize: 2, areStatementsNamed: true }));
	}
	const log = { warn: (...warning: unknown[]) => warnings.push(warning) };
	processes = databases.map((database) => createRateLimits(database, systemClock, log as never));
});
afterAll(() => Promise.all(databases.map((database) => database.close())));

/** Bursts and pauses of several callers, at times more than the limit. */
async function load(limits: RateLimits, subject: string, seed: number): Promise<Asked[]> {
	const asked: Asked[] = [];
	const next = random(seed);
	const until = performance.now() + RUN_MS;
	const ask = async () => {
		const from = performance.now();
		const { admitted, remaining } = await limits.take(subject, LIMIT, WINDOW_MS);
		asked.push({ from, to: performance.now(), admitted, remaining });
	};
	while (performance.now() < until) {
		await Promise.all(Array.from({ length: 1 + next(AT_ONCE) }, ask));
		await sleep(next(4) === 0 ? next(20 * SLOT_MS) : next(2 * SLOT_MS));
	}
	return asked;
}

/** The most requests that were certainly decided, and admitted, within one window. */
function mostInWindow(admitted: Asked[]): number {
	const counts = admitted.map(
		({ from }) => admitted.filter((other) => other.from >= from && other.to < from + WINDOW_MS).length
	);
	return Math.max(...counts);
}

const admittedOf = (asked: readonly Asked[]) => asked.filter(({ admitted }) => admitted);

it('three processes never admit more than the limit in a window, and little less', async () => {
	const asked = (await Promise.all(processes.map((limits, seed) => load(limits, 'shared', seed + 1)))).flat();
	const admitted = admittedOf(asked);
	expect(admitted.length).toBeLessThan(asked.length);
	expect(mostInWindow(admitted)).toBeLessThanOrEqual(LIMIT);
	expect(admitted.length).toBeGreaterThan(0.5 * LIMIT * (RUN_MS / WINDOW_MS));
});

it('one process refuses only if as many as the limit count', async () => {
	const [limits] = processes;
	const asked = limits ? await load(limits, 'own', 7) : [];
	const admitted = admittedOf(asked);
	const counted = asked
		.filter((one) => !one.admitted)
		.map(({ from }) => admitted.filter(({ to }) => to > from - WINDOW_MS - SLOT_MS && to <= from).length);
	expect(counted.length).toBeGreaterThan(0);
	expect(Math.min(...counted)).toBeGreaterThanOrEqual(LIMIT - AT_ONCE);
	expect(mostInWindow(admitted)).toBeLessThanOrEqual(LIMIT);
});

it('one process counts down from the limit, each value once', async () => {
	const [limits] = processes;
	const take = async () => limits?.take('sequence', LIMIT);
	for (let left = LIMIT - 1; left >= 0; left -= 1) {
		expect(await take()).toMatchObject({ admitted: true, remaining: left });
	}
	expect(await take()).toMatchObject({ admitted: false, remaining: 0 });
});

it('limits of two subjects in any order do not wait for each other', async () => {
	const [one, other] = [
		{ subject: 'one', limit: 1_000 },
		{ subject: 'other', limit: 1_000 }
	];
	for (let round = 0; round < 20; round += 1) {
		const decisions = await Promise.all(
			processes.flatMap((limits) => [limits.takeBoth(one, other), limits.takeBoth(other, one)])
		);
		expect(decisions.flat().every((decision) => decision?.admitted)).toBe(true);
	}
	expect(warnings).toEqual([]);
});
