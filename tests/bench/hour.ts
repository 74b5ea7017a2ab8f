/**
 * `npm run bench:hour`: resident memory of the built server, with the settings of the systemd unit, on SQLite during an hour of mixed calls of buyers, pages and
 * RADIUS gateways at a fixed rate, read every ten seconds. Prints the medians of five minutes.
 *
 * Options: --minutes N, --rate N (calls per second), --json FILE. Run `npm run build` first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startServer } from '../support/server/server.ts';
import { createBuyers, type Buyers } from './support/buyers.ts';
import { figure, spread, writeJson } from './support/figures.ts';
import { placesOf } from './support/fill.ts';
import { flags, residentMb } from './support/server.ts';

const GOAL_MB = 200;
const READ_MS = 10_000;
const PERIOD_MS = 300_000;
/** Calls that wait for an answer; more than these are left out and counted. */
const MOST_OPEN = 100;

const { values } = parseArgs({
	options: {
		minutes: { type: 'string', default: '60' },
		rate: { type: 'string', default: '20' },
		json: { type: 'string' }
	}
});

type Call = (buyers: Buyers, number: number) => Promise<unknown>;
/** Two whole purchases in twenty calls. */
const CALLS: readonly Call[] = [
	...several(1, (buyers) => buyers.buy()),
	...several(1, (buyers) => buyers.order()),
	...several(4, (buyers) => buyers.routerPage()),
	...several(2, (buyers) => buyers.purchasePage()),
	...several(3, (buyers, number) => buyers.search(number, 'area')),
	...several(3, (buyers) => buyers.poll()),
	...several(1, (buyers) => buyers.session()),
	...several(1, (buyers, number) => buyers.radiusLogin(number)),
	...several(4, (buyers, number) => buyers.radiusReport(number, number))
];

const server = await startServer({
	env: { AIRTILL_SECRET: 'a secret of the bench, long enough', MALLOC_ARENA_MAX: '2' },
	flags
});
try {
	const buyers = await createBuyers(server, placesOf(1));
	console.log(`${values.rate} calls per second; process ${server.pid}`);
	const { counts, periods } = await load(buyers);
	const all = periods.flat();
	console.log(`${JSON.stringify(counts)}\n${spread(all, 'MB')}, goal ${GOAL_MB}`);
	writeJson(values.json, {
		rate: Number(values.rate),
		counts,
		periods: periods.map(figure),
		all: figure(all)
	});
} finally {
	await server.stop();
}

function several(count: number, call: Call): Call[] {
	return Array.from({ length: count }, () => call);
}

/** @returns how many calls were made, and the memory by period */
async function load(buyers: Buyers): Promise<{ counts: Record<string, number>; periods: number[][] }> {
	const counts = { made: 0, failed: 0, leftOut: 0 };
	let open = 0;
	const periods: number[][] = [];
	const started = performance.now();
	const last = Number(values.rate) * 60 * Number(values.minutes);
	let readAt = 0;
	for (let number = 1; number <= last; number += 1) {
		const passed = performance.now() - started;
		await sleep(Math.max(0, (number * 1000) / Number(values.rate) - passed));
		if (passed >= readAt) {
			readAt += READ_MS;
			const period = Math.floor(passed / PERIOD_MS);
			if (period > 0 && !periods[period]) show(periods, period - 1);
			(periods[period] ??= []).push(residentMb(server.pid));
		}
		if (open >= MOST_OPEN) {
			counts.leftOut += 1;
			continue;
		}
		open += 1;
		void CALLS[number % CALLS.length]?.(buyers, number)
			.then(
				() => (counts.made += 1),
				(error: unknown) => {
					if ((counts.failed += 1) <= 5) console.error(error);
				}
			)
			.finally(() => (open -= 1));
	}
	while (open > 0) await sleep(50);
	show(periods, periods.length - 1);
	return { counts, periods };
}

function show(periods: readonly number[][], period: number): void {
	const minutes = PERIOD_MS / 60_000;
	console.log(`minute ${(period + 1) * minutes}: ${spread(periods[period] ?? [], 'MB')}`);
}
