import { Outdated } from './locks.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import {
	type Database,
	type DatabaseOptions,
	type NearRouter,
	type NearSearch,
	createWriteHealth,
	withTasks
} from './database.ts';
import { codeOf, nameStatements, repeatUnnamed } from './named-statements.ts';
import type { Schema } from './schema.ts';
import { EARTH_RADIUS_METRES, boxesAround } from '#lib/domain/geo.ts';

const STATEMENT_TIMEOUT_MS = 15_000;
/** A machine without power or a suspended process must not hold locks for longer than leases (jobs.ts). */
const IDLE_TRANSACTION_TIMEOUT_MS = 8_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** A new connection parses and plans each statement again. */
const IDLE_TIMEOUT_MS = 5 * 60_000;
/** Transactions that stop each other are repeated for this long. */
const RETRY_MS = 20_000;
/** Pauses stay short for 2 s, which is FreeRADIUS's timeout, then grow so that retries do not collide again. */
const QUICK_MS = 2_000;
const QUICK_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1_000;

/** serialization_failure and deadlock_detected, https://www.postgresql.org/docs/15/errcodes-appendix.html */
const RETRIED = new Set(['40001', '40P01']);
/** A row was deleted between the read and the insert of its child. The next attempt finds it gone. */
const FOREIGN_KEY_VIOLATION = '23503';
const MAX_ORPHANED = 2;
const UNIQUE_VIOLATION = '23505';
/** disk_full, io_error and read_only_sql_transaction */
const NOT_STORED = new Set(['53100', '58030', '25006']);

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** Parses bigint and count(), which arrive as text. All our integers are below 2^53. */
function parseInteger(text: string): number {
	const value = Number(text);
	if (!Number.isSafeInteger(value)) throw new Error(`Integer out of range: ${text}`);
	return value;
}

/** Opens a pool of PostgreSQL connections (version 15 or newer). */
export function openPostgres(url: string, options: DatabaseOptions): Database {
	const { poolSize, areStatementsNamed, onError } = options;
	const pool = openPool(url, poolSize);
	const health = createWriteHealth((error) => NOT_STORED.has(codeOf(error) ?? ''), {
		onError: (error) => onError?.(codeOf(error) ?? 'connection')
	});
	const dialect = new PostgresDialect({ pool: nameStatements(pool, areStatementsNamed) });
	const db = new Kysely<Schema>({ dialect, log: health.log });
	return {
		kind: 'postgres',
		db,
		unsynced: db,
		// Named, because the administrator of the database can choose another default.
		transact: (work) =>
			retrying(() =>
				repeatUnnamed(() => withTasks(db.transaction().setIsolationLevel('read committed'), work))
			),
		writeBehind: (work) =>
			repeatUnnamed(() =>
				db.transaction().execute(async (trx) => {
					await sql`set local synchronous_commit = off`.execute(trx);
					await work(trx);
				})
			),
		lockClaimed: sql`for update skip locked`,
		nearestRouters: (search) => nearestRouters(db, search),
		hasWords: (
			words
		) => sql`to_tsvector('simple', without_accents(name || ' ' || coalesce(address, '') || ' ' || ssid))
			@@ to_tsquery('simple', ${sql.join(
				words.map((word) => sql`without_accents(${word}) || ':*'`),
				sql` || ' & ' || `
			)})`,
		isUniqueViolation: (error) => codeOf(error) === UNIQUE_VIOLATION,
		connections: () => ({
			busy: pool.totalCount - pool.idleCount,
			idle: pool.idleCount,
			waiting: pool.waitingCount
		}),
		ping: () => health.check(db),
		async close() {
			await db.destroy();
		}
	};
}

/** The schema that an address asks for, `?options=-csearch_path=NAME`. */
export const schemaOfUrl = (url: string): string | undefined => /search_path(?:=|%3D)(\w+)/i.exec(url)?.[1];

function openPool(url: string, max: number): pg.Pool {
	const types = new pg.TypeOverrides();
	types.setTypeParser(INT8_OID, parseInteger);
	types.setTypeParser(NUMERIC_OID, Number);
	const pool = new pg.Pool({
		...{ connectionString: url, max, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, types },
		idleTimeoutMillis: IDLE_TIMEOUT_MS,
		statement_timeout: STATEMENT_TIMEOUT_MS,
		idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
		application_name: ['airtill', schemaOfUrl(url)].join(' ').trim()
	});
	// The pool replaces a broken connection, and its query fails. Without these listeners (for idle connections, and
	// for those in use) the event would end the process.
	pool.on('error', () => {});
	pool.on('connect', (client) => client.on('error', () => {}));
	return pool;
}

async function retrying<T>(run: () => Promise<T>): Promise<T> {
	const startedAt = performance.now();
	let orphaned = 0;
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await run();
		} catch (error) {
			const elapsedMs = performance.now() - startedAt;
			const code = codeOf(error) ?? '';
			if (code === FOREIGN_KEY_VIOLATION) orphaned += 1;
			const isOrphan = code === FOREIGN_KEY_VIOLATION && orphaned <= MAX_ORPHANED;
			const isRepeated = isOrphan || RETRIED.has(code) || error instanceof Outdated;
			if (!isRepeated || elapsedMs > RETRY_MS) throw error;
			const longestMs = elapsedMs < QUICK_MS ? QUICK_PAUSE_MS : MAX_PAUSE_MS;
			await sleep(Math.random() * Math.min(longestMs, 5 * 2 ** attempt));
		}
	}
}

/**
 * Finds the nearest routers on PostgreSQL. The index returns the nearest in degrees, so the cost depends on the page and
 * not on the density of routers. A later page also reads the routers before it.
 */

/** Routers read per router of the page: a circle's box has corners, and degrees of longitude are shorter than of latitude. */
const SPARE = 3;

/** `farthest` in degrees, and `count`, are those of all routers that were read. */
type Read = NearRouter & { farthest: number; count: number };

export async function nearestRouters(db: Kysely<Schema>, search: NearSearch): Promise<NearRouter[]> {
	const { limit, radiusMetres } = search;
	const most = SPARE * limit;
	const { rows } = await sql<Read>`
		select * from (
			select nearest.*, max(degrees) over () as farthest, count(*) over () as count from (
				select routers.*, ${distanceFrom(search)} as distance, ${degreesFrom(search)} as degrees from routers
				where disabled_at is null ${isAfter(search, distanceFrom(search))}
				order by ${degreesFrom(search)} limit ${most}
			) as nearest
		) as read
		where distance <= ${radiusMetres}::float8 order by distance, id limit ${limit}`.execute(db);
	const reach = (rows.length === limit ? rows.at(-1)?.distance : null) ?? radiusMetres;
	const [first] = rows;
	const isComplete = first && (first.count < most || isWithin(search, reach, first.farthest));
	return isComplete ? rows : routersWithin(db, search, reach);
}

/** True if all routers within `reach` metres are among the nearest of `degrees`. */
function isWithin({ centre }: NearSearch, reach: number, degrees: number): boolean {
	const [box, second] = boxesAround(centre, reach);
	if (!box || second) return false;
	const height = Math.max(box.maxLat - centre.lat, centre.lat - box.minLat);
	const width = Math.max(box.maxLon - centre.lon, centre.lon - box.minLon);
	return Math.hypot(height, width) < degrees;
}

/** Finds the nearest routers within `reach` metres, which may be less than the radius of the search. */
async function routersWithin(db: Kysely<Schema>, search: NearSearch, reach: number): Promise<NearRouter[]> {
	const boxes = boxesAround(search.centre, reach).map(
		(box) => sql`point(lon, lat) <@
			box(point(${box.minLon}::float8, ${box.minLat}::float8), point(${box.maxLon}::float8, ${box.maxLat}::float8))`
	);
	const { rows } = await sql<NearRouter>`
		select * from (
			select routers.*, ${distanceFrom(search)} as distance
			from routers where disabled_at is null and (${sql.join(boxes, sql` or `)})
		) as found
		where distance <= ${reach}::float8 ${isAfter(search, sql`distance`)}
		order by distance, id limit ${search.limit}`.execute(db);
	return rows;
}

const degreesFrom = ({ centre }: NearSearch) =>
	sql`point(lon, lat) <-> point(${centre.lon}::float8, ${centre.lat}::float8)`;

/** Haversine, in metres. */
function distanceFrom({ centre }: NearSearch) {
	const lat = sql`${centre.lat}::float8`;
	const lon = sql`${centre.lon}::float8`;
	return sql`2 * ${EARTH_RADIUS_METRES}::float8 * asin(sqrt(least(1, power(sin(radians(lat - ${lat}) / 2), 2)
		+ cos(radians(${lat})) * cos(radians(lat)) * power(sin(radians(lon - ${lon}) / 2), 2))))`;
}

const isAfter = ({ after }: NearSearch, distance: RawBuilder<unknown>) =>
	after ? sql`and (${distance}, id) > (${after.distance}::float8, ${after.id}::bigint)` : sql``;
