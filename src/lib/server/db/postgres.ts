import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely';
import pg from 'pg';
import {
	type Database,
	type DatabaseOptions,
	type NearRouter,
	type NearSearch,
	type RateDecision,
	type RateLimit,
	type SharedRates,
	createSemaphore,
	createWriteHealth,
	withTasks
} from './database.ts';
import type { Schema } from './schema.ts';
import { EARTH_RADIUS_METRES, boxesAround } from '#lib/domain/geo.ts';
import { createHash } from 'node:crypto';

const STATEMENT_TIMEOUT_MS = 15_000;
/** A machine without power or a suspended process must not hold locks for longer than leases (jobs.ts). */
const IDLE_TRANSACTION_TIMEOUT_MS = 8_000;
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * Purchases write to the same pages of indexes, so that more of their transactions at a time mostly end each other;
 * PostgreSQL advises to limit them (documentation of version 15, 13.2.3). While one waits for a row, another can run.
 */
const MAX_LIMITED = 2;
/** Conflicting transactions are retried for this long. */
const RETRY_MS = 20_000;
/** Pauses stay short for 2 s, which is FreeRADIUS's timeout, then grow so that retries do not collide again. */
const QUICK_MS = 2_000;
const QUICK_PAUSE_MS = 200;
const MAX_PAUSE_MS = 1_000;

/** serialization_failure and deadlock_detected, https://www.postgresql.org/docs/15/errcodes-appendix.html */
const RETRIED = new Set(['40001', '40P01']);
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

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);

/** Opens a pool of PostgreSQL connections (version 15 or newer). */
export function openPostgres(url: string, options: DatabaseOptions): Database {
	const { poolSize, onError } = options;
	const pool = openPool(url, poolSize);
	const health = createWriteHealth((error) => NOT_STORED.has(codeOf(error) ?? ''), {
		onError: (error) => onError?.(codeOf(error) ?? 'connection')
	});
	const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }), log: health.log });
	const acquire = createSemaphore(MAX_LIMITED);
	return {
		kind: 'postgres',
		db,
		unsynced: db,
		async transact(work, { limitConcurrency = false } = {}) {
			const release = limitConcurrency ? await acquire() : null;
			try {
				return await retrying(() => withTasks(db.transaction().setIsolationLevel('serializable'), work));
			} finally {
				release?.();
			}
		},
		write: (work) => withTasks(db.transaction(), work),
		writeBehind: (work) =>
			db.transaction().execute(async (trx) => {
				await sql`set local synchronous_commit = off`.execute(trx);
				await work(trx);
			}),
		async lock(trx, lock) {
			await sql`select pg_advisory_xact_lock(${lock})`.execute(trx);
		},
		lockClaimed: sql`for update skip locked`,
		nearestRouters: (search) => nearestRouters(db, search),
		hasWords: (
			words
		) => sql`to_tsvector('simple', without_accents(name || ' ' || coalesce(address, '') || ' ' || ssid))
			@@ to_tsquery('simple', ${sql.join(
				words.map((word) => sql`without_accents(${word}) || ':*'`),
				sql` || ' & ' || `
			)})`,
		rates: sharedRates(db),
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

function openPool(url: string, max: number): pg.Pool {
	const types = new pg.TypeOverrides();
	types.setTypeParser(INT8_OID, parseInteger);
	types.setTypeParser(NUMERIC_OID, Number);
	const pool = new pg.Pool({
		...{ connectionString: url, max, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, types },
		statement_timeout: STATEMENT_TIMEOUT_MS,
		idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
		application_name: 'airtill'
	});
	// The pool replaces a broken connection, and its query fails. Without these listeners (for idle connections, and
	// for those in use) the event would end the process.
	pool.on('error', () => {});
	pool.on('connect', (client) => client.on('error', () => {}));
	return pool;
}

async function retrying<T>(run: () => Promise<T>): Promise<T> {
	const startedAt = performance.now();
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await run();
		} catch (error) {
			const elapsedMs = performance.now() - startedAt;
			if (!RETRIED.has(codeOf(error) ?? '') || elapsedMs > RETRY_MS) throw error;
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

interface RateRequest {
	limits: readonly RateLimit[];
	windowMs: number;
}

type Decisions = RateDecision[];

interface Waiting {
	request: RateRequest;
	resolve(decisions: Decisions): void;
	reject(error: unknown): void;
}

/** query_canceled, https://www.postgresql.org/docs/15/errcodes-appendix.html */
const STATEMENT_TIMED_OUT = '57014';
/** Requests whose limits one call takes. */
const MAX_BATCH = 100;
/** A lost connection answers nothing. Longer than the time that PostgreSQL gives a statement. */
const MAX_CALL_MS = 16_000;

/**
 * Calls the functions of migrations 0044 and 0062, which go by the database's clock. One call at a time: requests that
 * come meanwhile share the next, so that those of one key do not wait for each other's lock with a connection each.
 */
function sharedRates(db: Kysely<Schema>): SharedRates {
	const queue: Waiting[] = [];
	let isRunning = false;

	async function takeAll(): Promise<void> {
		isRunning = true;
		while (queue.length > 0) {
			const batch = queue.splice(0, MAX_BATCH);
			const requests = batch.map(({ request }) => request);
			try {
				const decisions = await withinTime(takeBatch(db, requests));
				for (const [index, { resolve }] of batch.entries()) resolve(decisions[index] ?? []);
			} catch (error) {
				// If the database is away, those that came meanwhile do not wait for another failure: a limit must not stop a
				// purchase.
				const failed = isAway(error) ? [...batch, ...queue.splice(0)] : batch;
				for (const { reject } of failed) reject(error);
			}
		}
		isRunning = false;
	}

	return {
		async take(limits, windowMs) {
			const [first, second] = await new Promise<Decisions>((resolve, reject) => {
				queue.push({ request: { limits, windowMs }, resolve, reject });
				if (!isRunning) void takeAll();
			});
			if (!first) throw new Error('take_rates answered nothing');
			return second ? [first, second] : [first];
		},
		async forgetIdle(idleMs) {
			const idle = sql`asked_at < clock_timestamp() - make_interval(secs => ${idleMs / 1000})`;
			await withinTime(sql`delete from rate_heads where ${idle}`.execute(db));
		}
	};
}

/** An error that PostgreSQL itself answers at once, such as a deadlock, is of one call only. */
const isAway = (error: unknown) => !(error instanceof pg.DatabaseError) || error.code === STATEMENT_TIMED_OUT;

async function withinTime<T>(call: Promise<T>): Promise<T> {
	const over = new AbortController();
	const timeout = sleep(MAX_CALL_MS, null, { ref: false, signal: over.signal }).then(() => {
		throw new Error(`No answer within ${MAX_CALL_MS} ms`);
	});
	try {
		return await Promise.race([call, timeout]);
	} finally {
		over.abort();
	}
}

/** Text that PostgreSQL takes: what somebody typed must not fail the requests of others. */
const stored = (subject: string) =>
	/^[ -~]{1,200}$/.test(subject) ? subject : createHash('sha256').update(subject).digest('hex');

/** Returns the decisions of each request, up to its first refusal. */
async function takeBatch(db: Kysely<Schema>, requests: RateRequest[]): Promise<Decisions[]> {
	const limits = requests.flatMap(({ limits, windowMs }, request) =>
		limits.map((limit) => ({ ...limit, request, windowMs }))
	);
	const { rows } = await sql<RateDecision | { admitted: null }>`
		select admitted, remaining, reset_ms as "resetMs" from take_rates(
			${limits.map(({ request }) => request)}::integer[],
			${limits.map(({ subject }) => stored(subject))}::text[],
			${limits.map(({ limit }) => limit)}::integer[],
			${limits.map(({ windowMs }) => windowMs)}::float8[])`.execute(db);
	const decisions: Decisions[] = requests.map(() => []);
	for (const [index, row] of rows.entries()) {
		if (row.admitted !== null) decisions[limits[index]?.request ?? -1]?.push(row);
	}
	return decisions;
}
