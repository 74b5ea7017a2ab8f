/**
 * `npm run bench:cities`: measures what a purchase, a poll, a webhook and RADIUS requests cost on PostgreSQL (CPU time of
 * the server and of the database, bytes stored), and multiplies it by the load of 1,000 cities. Prints the table of
 * src/docs/scaling.md. The load is assumed (LOAD).
 *
 * Options: --seconds N (per operation and round), --rounds N, --json FILE. Run `npm run build` first.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/database/postgres.ts';
import { startServer } from '../support/server/server.ts';
import { openSql } from '../support/database/sql.ts';
import { createBuyers, DEVICES } from './support/buyers.ts';
import { figure, median, writeJson } from './support/figures.ts';
import { fill, placesOf } from './support/fill.ts';
import { cpuOf, cpuOfPostgres } from './processes.ts';

/** Per router and day, unless it says otherwise. */
const LOAD = {
	cities: 1_000,
	routersPerCity: 50,
	purchases: 40,
	/** The busiest hour's part of the day. */
	busiest: 0.1,
	searchesPerPurchase: 2,
	pagesPerPurchase: 4,
	/** A wait of at most 20 s each, while the buyer confirms. */
	pollsPerPurchase: 3,
	webhooksPerPurchase: 3,
	radiusLoginsPerPurchase: 2,
	/** Each minute of the hour that was bought. */
	radiusReportsPerPurchase: 60
};
/** Routers and rows of each kind in the measured database. */
const SIZE = 10_000;
const CALLERS = 4;
const MEGA = 1_000_000;

const { values } = parseArgs({
	options: {
		seconds: { type: 'string', default: '3' },
		rounds: { type: 'string', default: '5' },
		json: { type: 'string' }
	}
});

interface Cost {
	/** Microseconds of CPU time per call. */
	server: number[];
	database: number[];
	/** Bytes that the database grew by, per call. */
	stored: number[];
}

const receiver = createServer((request, response) => void request.resume().on('end', () => response.end()));
receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const postgres = await startPostgres();
const database = await postgres.createDatabase();
const server = await startServer({
	database,
	env: { AIRTILL_SECRET: 'a secret of the bench, long enough', WEBHOOK_ALLOW_INSECURE: '1' }
});
try {
	await server.kill('SIGTERM');
	await fill(database, SIZE);
	await server.restart();
	const buyers = await createBuyers(server, placesOf(SIZE));
	const sql = await openSql(database);
	const cpuOfDatabase = await cpuOfPostgres(database);
	const bytes = () => sql.count('select pg_database_size(current_database())');
	const settled = async () => {
		const waiting = 'select count(*) from jobs where run_at < (extract(epoch from now()) + 1) * 1000';
		while ((await sql.count(waiting)) > 0) await sleep(50);
	};

	/** Includes the jobs that the calls leave. */
	async function measure(
		call: (number: number, caller: number) => Promise<unknown>,
		callers = CALLERS
	): Promise<Cost> {
		const cost: Cost = { server: [], database: [], stored: [] };
		let number = 0;
		for (let round = -1; round < Number(values.rounds); round += 1) {
			const before = [cpuOf(server.pid), cpuOfDatabase(), await bytes()] as const;
			const until = performance.now() + Number(values.seconds) * 1000;
			let calls = 0;
			const caller = async (_: unknown, index: number) => {
				for (; performance.now() < until; calls += 1) await call((number += 1), index);
			};
			await Promise.all(Array.from({ length: callers }, caller));
			await settled();
			if (round < 0) continue;
			cost.server.push(((cpuOf(server.pid) - before[0]) / calls) * MEGA);
			cost.database.push(((cpuOfDatabase() - before[1]) / calls) * MEGA);
			cost.stored.push(((await bytes()) - before[2]) / calls);
		}
		return cost;
	}

	const { searchesPerPurchase, pagesPerPurchase, pollsPerPurchase, webhooksPerPurchase } = LOAD;
	const { radiusLoginsPerPurchase, radiusReportsPerPurchase } = LOAD;
	const rows: [name: string, perPurchase: number, cost: Cost][] = [
		['search for routers', searchesPerPurchase, await measure((number) => buyers.search(number, 'area'))],
		['page', pagesPerPurchase, await measure(() => buyers.purchasePage())],
		['purchase, order to pass', 1, await measure(() => buyers.buy())],
		['poll of a payment', pollsPerPurchase, await measure(() => buyers.poll())],
		['RADIUS login', radiusLoginsPerPurchase, await measure((_, caller) => buyers.radiusLogin(caller))],
		[
			'RADIUS report',
			radiusReportsPerPurchase,
			await measure((number, caller) => buyers.radiusReport(caller, number), DEVICES)
		]
	];
	await buyers.register(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
	const deliveries = () => sql.count("select count(*) from webhook_deliveries where status = 'delivered'");
	const purchase = rows[2]?.[2];
	let bought = 0;
	const withWebhooks = await measure(() => ((bought += 1), buyers.buy()));
	const each = (await deliveries()) / bought;
	rows.push(['webhook', webhooksPerPurchase, difference(withWebhooks, purchase, each)]);
	await sql.close();
	report(rows);
} finally {
	await server.stop();
	await postgres.stop();
	receiver.close();
}

function difference(more: Cost, less: Cost | undefined, count: number): Cost {
	const of = (name: keyof Cost) => [(median(more[name]) - median(less?.[name] ?? [])) / count];
	return { server: of('server'), database: of('database'), stored: of('stored') };
}

function report(rows: readonly [name: string, perPurchase: number, cost: Cost][]): void {
	const { cities, routersPerCity, purchases, busiest } = LOAD;
	const perDay = cities * routersPerCity * purchases;
	const perSecond = (perDay * busiest) / 3_600;
	console.log(
		`${cities} cities of ${routersPerCity} routers with ${purchases} purchases a day: ${perSecond.toFixed(0)} per second ` +
			`in the busiest hour, which has ${busiest * 100} % of the day\n`
	);
	console.log(
		'| Operation | per purchase | per second | server, µs | database, µs | bytes | cores, server | cores, database |'
	);
	console.log('|---|---|---|---|---|---|---|---|');
	const total = { server: 0, database: 0, stored: 0 };
	for (const [name, perPurchase, cost] of rows) {
		const rate = perPurchase * perSecond;
		const [own, theirs, stored] = [median(cost.server), median(cost.database), median(cost.stored)];
		const cores = [own, theirs].map((one) => ((one * rate) / MEGA).toFixed(1));
		total.server += (own * rate) / MEGA;
		total.database += (theirs * rate) / MEGA;
		total.stored += stored * perPurchase * perDay;
		const cells = [
			name,
			perPurchase,
			rate.toFixed(0),
			own.toFixed(0),
			theirs.toFixed(0),
			stored.toFixed(0),
			...cores
		];
		console.log(`| ${cells.join(' | ')} |`);
	}
	console.log(`| sum | | | | | | ${total.server.toFixed(1)} | ${total.database.toFixed(1)} |`);
	console.log(`\n${(total.stored / 1e9).toFixed(1)} GB a day before retention`);
	const costs = rows.map(([name, perPurchase, { server: own, database: theirs, stored }]) => ({
		...{ name, perPurchase, server: figure(own), database: figure(theirs), stored: figure(stored) }
	}));
	writeJson(values.json, { load: LOAD, perSecond, total, costs });
}
