import { sql, type RawBuilder } from 'kysely';
import type { Database } from './database.ts';

export interface Inspection {
	/** e.g. `SQLite 3.51.0` or `PostgreSQL 15.14` */
	server: string;
	schemaVersion: number;
	problems: string[];
	/** Database server clock minus ours, in ms; null for an embedded database. */
	clockAheadMs: number | null;
	newestRecordAt: number | null;
}

const OLDEST_POSTGRES_MAJOR = 15;

const valueOf = async <T>({ db }: Database, expression: RawBuilder<unknown>): Promise<T | null> =>
	(await sql<{ value: T }>`select ${expression} as value`.execute(db)).rows[0]?.value ?? null;

/** Also tries a write that changes nothing. @throws the driver's error if reads or writes fail */
export async function inspectDatabase(database: Database, now: () => number): Promise<Inspection> {
	const applied = sql`(select max(version) from schema_migrations)`;
	const schemaVersion = (await valueOf<number>(database, applied)) ?? 0;
	await sql`update schema_migrations set name = name`.execute(database.db);
	const found = { schemaVersion, newestRecordAt: await newestRecordAt(database) };
	if (database.kind === 'sqlite') {
		const { rows } = await sql<{ quick_check: string }>`pragma quick_check(3)`.execute(database.db);
		const problems = rows.map((row) => row.quick_check).filter((line) => line !== 'ok');
		return { ...found, server: `SQLite ${process.versions.sqlite}`, problems, clockAheadMs: null };
	}
	const full = await valueOf<string>(database, sql`current_setting('server_version')`);
	// Debian adds its package version in brackets.
	const version = full?.split(' ')[0] ?? '';
	const isOld = Number.parseInt(version, 10) < OLDEST_POSTGRES_MAJOR;
	return {
		...found,
		server: `PostgreSQL ${version}`,
		problems: isOld ? [`PostgreSQL ${version} is older than ${OLDEST_POSTGRES_MAJOR}`] : [],
		clockAheadMs: await clockAhead(database, now)
	};
}

async function clockAhead(database: Database, now: () => number): Promise<number> {
	const before = now();
	const clock = sql`(extract(epoch from clock_timestamp()) * 1000)::float8`;
	const theirs = (await valueOf<number>(database, clock)) ?? before;
	// The server read its clock about half-way between request and response.
	return theirs - (before + now()) / 2;
}

export async function databaseBytes(database: Database): Promise<number> {
	const size =
		database.kind === 'sqlite'
			? sql`(select page_count * page_size from pragma_page_count(), pragma_page_size())`
			: sql`pg_database_size(current_database())`;
	return (await valueOf<number>(database, size)) ?? 0;
}

/** Returns when the newest account, session, payment or gateway check was (ms since the epoch); null without any. */
export async function newestRecordAt(database: Database): Promise<number | null> {
	const newest = await Promise.all(
		(['accounts', 'sessions', 'payments'] as const).map((table) =>
			database.db.selectFrom(table).select('created_at').orderBy('id', 'desc').limit(1).executeTakeFirst()
		)
	);
	const checked = await database.db
		.selectFrom('gateways')
		.select(({ fn }) => fn.max('checked_at').as('at'))
		.executeTakeFirst();
	const times = [...newest.map((row) => row?.created_at), checked?.at].filter((at) => at != null);
	return times.length > 0 ? Math.max(...times) : null;
}
