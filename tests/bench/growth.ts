/**
 * `npm run bench:growth`: what grows with the installation. One server per size, with as many routers, sessions, payments,
 * events and other rows (fill.ts). Everything a buyer waits for is asked of each server in turn, one call at a time;
 * the result is the ratio of a round's median to that of the smallest size (median, least and most of all rounds).
 *
 * Options: --database sqlite|postgres, --most N (100000; 1000000 takes a quarter of an hour and 5 GB), --rounds N, --calls N (per
 * operation and round), --json FILE. Run `npm run build` first.
 */
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/database/postgres.ts';
import { startServer, type TestServer } from '../support/server/server.ts';
import { createBuyers, type Buyers } from './support/buyers.ts';
import { figure, median, spread, writeJson } from './support/figures.ts';
import { fill, placesOf } from './support/fill.ts';

const GOAL = 2;
const LEAST = 1_000;

const { values } = parseArgs({
	options: {
		database: { type: 'string', default: 'sqlite' },
		most: { type: 'string', default: '100000' },
		rounds: { type: 'string', default: '7' },
		calls: { type: 'string', default: '20' },
		json: { type: 'string' }
	}
});
const calls = Number(values.calls);
const sizes: number[] = [];
for (let size = LEAST; size <= Number(values.most); size *= 10) sizes.push(size);

const OPERATIONS: Readonly<Record<string, (buyers: Buyers, number: number) => Promise<unknown>>> = {
	'nearest routers, constant area': (buyers, number) => buyers.search(number, 'area'),
	'nearest routers, constant density': (buyers, number) => buyers.search(number, 'density'),
	'page of a router': (buyers) => buyers.routerPage(),
	'order, to its page': (buyers) => buyers.order(),
	'page of a purchase': (buyers) => buyers.purchasePage(),
	'payment status': (buyers) => buyers.poll(),
	session: (buyers) => buyers.session(),
	'order to password': (buyers) => buyers.buy(),
	'RADIUS login': (buyers) => buyers.radiusLogin(0),
	'RADIUS report': (buyers, number) => buyers.radiusReport(0, number, 'start')
};

const postgres = values.database === 'postgres' ? await startPostgres() : null;
const servers: TestServer[] = [];
try {
	const buyers: Buyers[] = [];
	for (const size of sizes) {
		const options = { database: postgres ? await postgres.createDatabase() : 'sqlite' };
		const server = await startServer({
			...options,
			env: { AIRTILL_SECRET: 'a secret of the bench, long enough' }
		});
		servers.push(server);
		await server.kill('SIGTERM');
		await fill(server.databaseUrl, size);
		await server.restart();
		buyers.push(await createBuyers(server, placesOf(size)));
	}
	report(await measure(buyers));
} finally {
	await Promise.all(servers.map((server) => server.stop()));
	await postgres?.stop();
}

interface Measured {
	name: string;
	/** Milliseconds of one call by size: the medians of the rounds. */
	rounds: number[][];
}

async function measure(buyers: readonly Buyers[]): Promise<Measured[]> {
	const measured = Object.keys(OPERATIONS).map((name) => ({
		name,
		rounds: buyers.map(() => new Array<number>())
	}));
	let number = 0;
	for (let round = -1; round < Number(values.rounds); round += 1) {
		for (const { name, rounds } of measured) {
			for (const [index, one] of buyers.entries()) {
				const times: number[] = [];
				for (let count = 0; count < calls; count += 1) {
					const started = performance.now();
					await OPERATIONS[name]?.(one, (number += 1));
					times.push(performance.now() - started);
				}
				// The first round warms up.
				if (round >= 0) rounds[index]?.push(median(times));
			}
		}
	}
	return measured;
}

function report(measured: readonly Measured[]): void {
	console.log(
		`${values.database}, ${sizes.join(', ')} routers and rows of each kind, ${values.rounds} rounds\n`
	);
	const results = measured.map(({ name, rounds }) => {
		const [smallest = []] = rounds;
		const ratios = rounds.map((times) => times.map((time, round) => time / (smallest[round] ?? Number.NaN)));
		const goal = ratios.every((one) => median(one) <= GOAL) ? 'met' : 'MISSED';
		console.log(`${name}: ${spread(smallest, 'ms', 2)} at ${LEAST}; goal ${GOAL}: ${goal}`);
		for (const [index, one] of ratios.entries()) {
			if (index > 0) console.log(`  ${String(sizes[index]).padStart(8)}: ${spread(one, 'times', 2)}`);
		}
		return { name, ms: rounds.map(figure), ratios: ratios.map(figure) };
	});
	writeJson(values.json, { database: values.database, sizes, results });
}
