import { sql } from 'kysely';
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

/** Also tries a write that changes nothing. @throws the driver's error if reads or writes fail */
export async function inspectDatabase(database: Database, now: () => number): Promise<Inspection> {
	const sqlite = database.kind === 'sqlite';
	const applied = await sql<{
		version: number;
	}>`select max(version) as version from schema_migrations`.execute(database.db);
	await sql`update schema_migrations set name = name`.execute(database.db);
	const version = sqlite ? process.versions.sqlite : await postgresVersion(database);
	const isOld = !sqlite && Number.parseInt(version ?? '', 10) < OLDEST_POSTGRES_MAJOR;
	const old = isOld ? [`PostgreSQL ${version} is older than ${OLDEST_POSTGRES_MAJOR}`] : [];
	return {
		server: `${sqlite ? 'SQLite' : 'PostgreSQL'} ${version}`,
		schemaVersion: applied.rows[0]?.version ?? 0,
		problems: sqlite ? await sqliteProblems(database) : old,
		clockAheadMs: sqlite ? null : await clockAhead(database, now),
		newestRecordAt: await newestRecordAt(database)
	};
}

async function sqliteProblems(database: Database): Promise<string[]> {
	const { rows } = await sql<{ quick_check: string }>`pragma quick_check(3)`.execute(database.db);
	return rows.map((row) => row.quick_check).filter((line) => line !== 'ok');
}

async function postgresVersion(database: Database): Promise<string> {
	const { rows } = await sql<{ server_version: string }>`show server_version`.execute(database.db);
	// Debian adds its package version in brackets.
	return rows[0]?.server_version.split(' ')[0] ?? '';
}

async function clockAhead(database: Database, now: () => number): Promise<number> {
	const before = now();
	const { rows } = await sql<{ ms: number }>`
		select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(database.db);
	// The server read its clock about half-way between request and response.
	return (rows[0]?.ms ?? before) - (before + now()) / 2;
}

export async function databaseBytes({ kind, db }: Database): Promise<number> {
	const size =
		kind === 'sqlite'
			? sql<{
					bytes: number;
				}>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`
			: sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`;
	return (await size.execute(db)).rows[0]?.bytes ?? 0;
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
