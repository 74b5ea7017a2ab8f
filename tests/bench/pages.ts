/**
 * `npm run bench:pages`: server time of every page of owners, administrators and buyers, with a year of trade of one
 * owner (year/). One request at a time, from the request to the last byte on loopback; each page's first
 * request is not counted. Ends with 1 if the median of a page misses the goal.
 *
 * Options: --database sqlite|postgres, --runs N, --routers N, --sessions N, --only REGEX (paths that match). Run
 * `npm run build` first.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { buyAt } from '../support/pages/purchase.ts';
import { freePort } from '../support/server/ports.ts';
import { startPostgres } from '../support/database/postgres.ts';
import { openSql } from '../support/database/sql.ts';
import { startBenchServer, type BenchServer } from './support/server.ts';
import { addYear } from './year.ts';

const GOAL_MS = 200;

const { values } = parseArgs({
	options: {
		database: { type: 'string', default: 'sqlite' },
		runs: { type: 'string', default: '9' },
		routers: { type: 'string', default: '1000' },
		sessions: { type: 'string', default: '100000' },
		only: { type: 'string', default: '' }
	}
});

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-pages-'));
const postgres = values.database === 'postgres' ? await startPostgres() : null;
let isMissed = false;
try {
	const settings = {
		HOST: '127.0.0.1',
		PORT: String(await freePort()),
		DATABASE_URL: postgres ? await postgres.createDatabase() : `file:${folder}/airtill.db`,
		DATA_DIR: folder,
		AIRTILL_LOG_LEVEL: 'warn',
		RATE_LIMIT_DEFAULT: '1000000'
	};
	await addYear(settings, { routers: Number(values.routers), sessions: Number(values.sessions) });
	const { router, review } = await prepared(settings.DATABASE_URL);
	const server = await startBenchServer(settings);
	const url = `http://127.0.0.1:${server.port}`;
	const purchase = await buyAt(url, `/r/${router}`, '0772 123 008');
	const pages = {
		buyer: [
			'/',
			'/?lat=0.3476&lon=32.5825',
			'/?place=Lake',
			`/r/${router}`,
			`/r/${router}/poster`,
			`/kiosk/${router}`,
			purchase,
			`${purchase}/receipt`
		],
		owner: [
			...['', '?period=weekly', '?period=monthly'].map((period) => `/owner${period}`),
			...['daily', 'weekly', 'monthly'].flatMap((period) => [
				`/owner/money?period=${period}`,
				`/owner/money?period=${period}`
			]),
			'/owner/money/statement',
			`/owner/money?period=monthly&router=${router}`,
			'/owner/money?period=monthly&hour=12',
			...[
				'/owner/customers?group=active',
				'/owner/customers?group=expired',
				'/owner/routers',
				'/owner/settings?/brand'
			],
			...['/owner/customers', '/owner/customers?q=2345', '/owner/customers/5000'],
			...['/owner/settings?/alerts', '/owner/settings', '/owner/settings', '/owner/routers/new'],
			...['', '/price', '/offers', '/edit', '/sales', '/access', '/gateway'].map(
				(page) => `/owner/routers/${router}${page}`
			)
		],
		admin: [
			...['', '/reviews', '/reviews?resolved', `/reviews/${review}`],
			...['/accounts', '/accounts/1', '/accounts/new'],
			...['/routers', '/routers?find=lake', `/routers/${router}`, '/routers/import', '/audit'],
			...['/audit?action=payment.success', '/audit?actor=reconciler', '/audit?payment=5000']
		].map((page) => `/admin${page}`)
	};
	console.log(
		`${values.database}, ${values.routers} routers, ${values.sessions} sessions, goal ${GOAL_MS} ms\n`
	);
	console.log(`${'page'.padEnd(44)} median   best  worst (ms)`);
	for (const [person, paths] of Object.entries(pages)) {
		const cookie = person === 'buyer' ? '' : await signIn(server, url, person);
		for (const page of paths.filter((one) => new RegExp(values.only).test(one))) {
			await measure(url + page, page.replace(purchase, '/s/…'), cookie);
		}
	}
	await server.stop();
} finally {
	await postgres?.stop();
	rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isMissed ? 1 : 0;

/** The busiest router and a review. The planner gets the statistics that a running PostgreSQL makes itself. */
async function prepared(databaseUrl: string) {
	const sql = await openSql(databaseUrl);
	if (postgres) await sql.run('analyze');
	const router = await sql.count('select id from routers where external_id = ?', 'year-1');
	const review = await sql.count(
		`insert into reviews (payment_id, subject, reason, detail, opened_at)
			select id, 'payment ' || id, 'refund_failed', 'the operator says no', paid_at
			from payments where status = 'refunded' order by id limit 1 returning id`
	);
	await sql.close();
	return { router, review };
}

/** @returns the cookies of a demo account */
async function signIn(server: BenchServer, url: string, role: string): Promise<string> {
	const email = `${role}@airtill.example`;
	const password = new RegExp(`^ +${email} +password (\\S+)$`, 'm').exec(server.stdout())?.[1] ?? '';
	const area = role === 'owner' ? 'owner' : 'developer';
	const response = await fetch(`${url}/${area}/sign-in`, {
		method: 'POST',
		redirect: 'manual',
		headers: { origin: url, accept: 'text/html' },
		body: new URLSearchParams({ email, password })
	});
	if (response.status !== 303) throw new Error(`${email} is not signed in: ${response.status}`);
	return response.headers
		.getSetCookie()
		.map((line) => line.split(';')[0])
		.join('; ');
}

async function measure(address: string, name: string, cookie: string): Promise<void> {
	const times: number[] = [];
	for (let run = 0; run <= Number(values.runs); run += 1) {
		const started = performance.now();
		const response = await fetch(address, { redirect: 'manual', headers: { cookie, accept: 'text/html' } });
		await response.arrayBuffer();
		if (response.status !== 200) throw new Error(`${name}: ${response.status}`);
		if (run > 0) times.push(performance.now() - started);
	}
	times.sort((one, other) => one - other);
	const median = times[Math.floor(times.length / 2)] ?? NaN;
	const goal = median <= GOAL_MS ? '' : '  MISSED';
	if (goal !== '') isMissed = true;
	const shown = [median, times[0] ?? NaN, times.at(-1) ?? NaN]
		.map((time) => time.toFixed(0).padStart(6))
		.join(' ');
	console.log(`${name.padEnd(44)} ${shown}${goal}`);
}
