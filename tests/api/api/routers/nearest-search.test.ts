/**
 * The nearest routers and the routers of a name, asked of the database itself: the rows that are read for a page do not
 * depend on how many routers lie around. (nearby.test.ts compares them with brute force.)
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql as query, type CompiledQuery, type Kysely } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDatabase, type Database, type NearSearch } from '#lib/server/db/database.ts';
import { nearestRouters as nearestOnPostgres } from '#lib/server/db/postgres.ts';
import type { Schema } from '#lib/server/db/schema.ts';
import { nearestRouters as nearestOnSqlite } from '#lib/server/db/sqlite.ts';
import { findNamedRouters } from '#lib/server/routers/routers.ts';
import { sequence } from '../../../support/random.ts';
import { createDatabaseOn } from '../../../support/database/postgres.ts';
import { BOTH_DATABASES } from '../../../support/server/fixture.ts';
import { noting } from '../../../support/database/query-plans.ts';
import { openSql, type Row, type Sql } from '../../../support/database/sql.ts';

interface Place {
	lat: number;
	lon: number;
	name?: string;
	disabled?: boolean;
}

const ROWS_AT_ONCE = 500;
const PAGE = 21;
/** Far above what a page needs, and far below the routers around it. */
const FEW_ROWS = 1_500;

const random = sequence(20_261_123);
const wrapped = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon);

/** Routers at random in a rectangle. */
const around = (lat: number, lon: number, width: number, lonWidth: number, count: number): Place[] =>
	Array.from({ length: count }, () => ({
		lat: Math.max(-90, Math.min(90, lat + (2 * random() - 1) * width)),
		lon: wrapped(lon + (2 * random() - 1) * lonWidth)
	}));

/** [what, centre, routers within 20 km]. No two are within 50 km of each other. */
const DENSITIES = [
	['3 routers', { lat: 10, lon: 30 }, around(10, 30, 0.1, 0.1, 3)],
	['3,300 routers', { lat: 5, lon: 30 }, around(5, 30, 0.12, 0.12, 3_300)],
	['15,000 routers', { lat: -5, lon: 30 }, around(-5, 30, 0.12, 0.12, 15_000)],
	// The circle is almost empty up to the edge of a city.
	[
		'5,000 routers on one side',
		{ lat: -10, lon: 30 },
		[...around(-10, 30, 0.1, 0.1, 5), ...around(-10, 30.14, 0.03, 0.03, 5_000)]
	]
] as const;

const NAMED: readonly Place[] = [
	{ lat: 20, lon: 20, name: 'Café Zawadi, Makerere Hill' },
	{ lat: 20.1, lon: 20, name: 'Zawadi Lounge' },
	{ lat: 20.2, lon: 20, name: 'Old Zawadi', disabled: true },
	{ lat: 20.001, lon: 20, name: 'مقهى أحمد' },
	...Array.from({ length: 1001 }, () => ({ lat: 61, lon: 61, name: 'Crane' })),
	{ lat: 20.003, lon: 20, name: 'Crane Annexe' },
	{ lat: 20.002, lon: 20, name: 'Shop/Duka.5 x@kla-wifi' }
];

const places: readonly Place[] = [...DENSITIES.flatMap(([, , routers]) => routers), ...NAMED];

async function insertRouters(sql: Sql): Promise<void> {
	const owner = await sql.count(
		"insert into accounts (email, role, plan, status, created_at) values ('o@tests.invalid', 'owner', 'default', 'active', 0) returning id"
	);
	await sql.run('begin');
	for (let from = 0; from < places.length; from += ROWS_AT_ONCE) {
		const rows = places.slice(from, from + ROWS_AT_ONCE).map(
			({ lat, lon, name = 'Wi-Fi', disabled = false }) =>
				`(${owner}, '${name}', 'Street', 'net', 'wpa', ${lat}, ${lon}, 500, 'UGX', 'online', '[]', '15m', '30d', 0, 0,
					${disabled ? 1 : 'null'})`
		);
		await sql.run(`insert into routers (owner_account_id, name, address, ssid, security, lat, lon, price_minor,
			currency, status, payment_methods, min_duration, max_duration, created_at, updated_at, disabled_at)
			values ${rows.join(', ')}`);
	}
	await sql.run('commit');
	await sql.run('analyze');
}

interface PlanNode {
	'Node Type': string;
	'Actual Rows': number;
	'Actual Loops': number;
	'Rows Removed by Filter'?: number;
	'Rows Removed by Index Recheck'?: number;
	Plans?: PlanNode[];
}

/** Rows that the scans of a plan of PostgreSQL have read. */
const scanned = (node: PlanNode): number =>
	(node.Plans ?? []).reduce((sum, one) => sum + scanned(one), 0) +
	(node['Node Type'].includes('Scan')
		? node['Actual Rows'] * node['Actual Loops'] +
			(node['Rows Removed by Filter'] ?? 0) +
			(node['Rows Removed by Index Recheck'] ?? 0)
		: 0);

describe.each(BOTH_DATABASES)('on %s', (kind) => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-nearest-'));
	const ran: CompiledQuery[] = [];
	let database: Database;
	let noted: Kysely<Schema>;

	beforeAll(async () => {
		const url =
			kind === 'sqlite' ? `file:${folder}/airtill.db` : await createDatabaseOn(inject('postgresUrl'));
		database = await openDatabase(url, { poolSize: 2 });
		const sql = await openSql(url);
		await insertRouters(sql);
		await sql.close();
		noted = noting(kind, url, ran);
	});

	afterAll(async () => {
		await noted.destroy();
		await database.close();
		rmSync(folder, { recursive: true });
	});

	const nearest = (search: NearSearch) =>
		kind === 'sqlite' ? nearestOnSqlite(noted, search) : nearestOnPostgres(noted, search);

	/** Rows that the database has read for the noted queries. */
	async function rowsRead(): Promise<number> {
		let read = 0;
		for (const one of ran.splice(0)) {
			const explained = kind === 'sqlite' ? one.sql : `explain (analyze, format json) ${one.sql}`;
			const { rows } = await database.db.executeQuery<Row>({ ...one, sql: explained });
			const [plan] = (rows[0]?.['QUERY PLAN'] ?? []) as { Plan: PlanNode }[];
			read += plan ? scanned(plan.Plan) : rows.length;
		}
		return read;
	}

	it.each(DENSITIES)('reads few rows for the nearest of %s', async (_what, centre, around) => {
		ran.length = 0;
		for (const radiusMetres of [20_000, 50_000]) {
			const page = await nearest({ centre, radiusMetres, after: null, limit: PAGE });
			expect(page).toHaveLength(Math.min(PAGE, around.length));
			expect(await rowsRead()).toBeLessThan(FEW_ROWS);
		}
	});

	it('reads for a later page the routers before it, and few after', async () => {
		const search = { centre: { lat: -5, lon: 30 }, radiusMetres: 20_000 };
		const last = (await nearest({ ...search, after: null, limit: 500 })).at(-1);
		ran.length = 0;
		const after = last ? { distance: last.distance, id: last.id } : null;
		expect(await nearest({ ...search, after, limit: PAGE })).toHaveLength(PAGE);
		expect(await rowsRead()).toBeLessThan(2 * FEW_ROWS);
	});

	describe('a name', () => {
		const centre = { lat: 20, lon: 20 };
		const search = { centre, radiusMetres: 50_000, after: null, limit: PAGE };
		const named = async (name: string) =>
			(await findNamedRouters({ ...database, db: noted }, name, search)).map((router) => router.name);

		it.each([
			['zawadi', ['Café Zawadi, Makerere Hill', 'Zawadi Lounge']],
			['ZAWADI caf', ['Café Zawadi, Makerere Hill']],
			['cafe maker', ['Café Zawadi, Makerere Hill']],
			['أحمد', ['مقهى أحمد']],
			['duka 5 kla wifi', ['Shop/Duka.5 x@kla-wifi']],
			// More routers with this word are elsewhere than it looks at.
			['crane', ['Crane Annexe']],
			['akerere', []],
			['zawadi nowhere', []]
		])('%s finds the routers whose words begin so, nearest first', async (name, expected) => {
			expect(await named(name)).toEqual(expected);
		});

		it.each(["' or 1=1 --", '"', '*', 'a:* & !b | (', '½ ﷺ', 'NEAR(a b)', '\u0301'])(
			'may be %j',
			async (name) => {
				await expect(named(name)).resolves.toBeInstanceOf(Array);
			}
		);

		it('is found in an index', async () => {
			ran.length = 0;
			await named('zawadi');
			const [first] = ran.splice(0);
			if (!first) throw new Error('No query ran');
			const explain = kind === 'sqlite' ? 'explain query plan' : 'explain';
			const { rows } = await database.db.executeQuery<Row>({ ...first, sql: `${explain} ${first.sql}` });
			const plan = JSON.stringify(rows);
			expect(plan).toMatch(/router_words VIRTUAL TABLE INDEX|routers_words/);
			expect(plan).not.toMatch(/SCAN routers|Seq Scan/);
		});

		it('follows a change of the router', async () => {
			const change = (from: string, to: string) =>
				database.db.updateTable('routers').set({ name: to }).where('name', '=', from).execute();
			await change('Zawadi Lounge', 'Karibu Lounge');
			expect(await named('karibu')).toEqual(['Karibu Lounge']);
			expect(await named('zawadi')).toEqual(['Café Zawadi, Makerere Hill']);
			await change('Karibu Lounge', 'Zawadi Lounge');
			await query`delete from routers where name = 'مقهى أحمد'`.execute(database.db);
			expect(await named('أحمد')).toEqual([]);
		});
	});
});
