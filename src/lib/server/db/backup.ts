import {
	createReadStream,
	createWriteStream,
	existsSync,
	linkSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync
} from 'node:fs';
import { PRIVATE_FILE_MODE, createNewPrivateFile, createPrivateFolder } from '../platform/private-files.ts';
import { dirname } from 'node:path';
import { DatabaseSync, backup } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { resultCode } from './sqlite.ts';
import { OF_SCHEMA } from './locks.ts';
import { type AppliedMigration, MIGRATION_LOCK, schemaVersion } from './migrate.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import process from 'node:process';
import { sql } from 'kysely';
import { openPostgres } from './postgres.ts';
import { refuse } from '#lib/server/platform/errors.ts';

/**
 * Copies of the whole database, made while servers use it.
 *
 * Backup: written to a temporary file, checked, then renamed. A file with the final name is complete.
 * Restore: replaces all data in one step, only while nothing uses the database, and keeps what was there.
 */

/** Copies and replaces one kind of database. */
interface Kind {
	/** Writes one moment of the database into the existing, empty file. */
	copyTo(file: string): Promise<void>;
	/** Reads all of the file. @returns the schema version. @throws Refused */
	check(file: string): Promise<number>;
	/**
	 * Checks the file, then replaces all data by it.
	 * @param options.stamp names where the replaced data is kept
	 * @returns the schema version and where the replaced data is kept (null: there was none)
	 */
	replaceBy(file: string, options: { force: boolean; stamp: string }): Promise<Restored>;
}

interface Restored {
	version: number;
	kept: string | null;
}

/**
 * Added to the last id of every table by a restore. Ids that were issued after the backup are on posters (routers)
 * and in the databases of API clients (sessions): a second use would show a buyer another buyer's password.
 */
const ID_GAP = 1_000_000;

/** A payment or refund that was waiting to be sent may have been sent after the backup: the operator is asked first. */
const ASK_ABOUT_UNSENT = ['payments', 'refunds']
	.map(
		(table) => `update ${table}
			set submit_state = 'uncertain', submitted_at = coalesce(submitted_at, created_at)
			where status = 'pending' and submit_state = 'created'`
	)
	.join(';');

const openKind = (url: string): Kind =>
	url.startsWith('file:') ? openSqliteKind(url.slice('file:'.length)) : openPostgresKind(url);

/** @throws Refused; then `file` is as it was */
export async function backUp(url: string, file: string, { force }: { force: boolean }) {
	refuseOwnFile(url, file);
	if (existsSync(file) && !force) throw refuse(`${file} exists: add --force to replace it.`);
	const kind = openKind(url);
	const part = `${file}.part`;
	rmSync(part, { force: true });
	createNewPrivateFile(part);
	try {
		await kind.copyTo(part);
		const version = await kind.check(part);
		renameSync(part, file);
		return { version, bytes: statSync(file).size };
	} finally {
		rmSync(part, { force: true });
	}
}

/** @throws Refused; then the database is as it was */
export async function restore(url: string, file: string, { force, now }: { force: boolean; now: number }) {
	refuseOwnFile(url, file);
	if (!existsSync(file)) throw refuse(`There is no file ${file}.`);
	const kind = openKind(url);
	const stamp = new Date(now).toISOString().replace(/\D/g, '');
	return kind.replaceBy(file, { force, stamp });
}

function refuseOwnFile(url: string, file: string): void {
	const path = url.slice('file:'.length);
	if (!url.startsWith('file:') || !existsSync(path) || !existsSync(file)) return;
	if (realpathSync(path) !== realpathSync(file)) return;
	throw refuse(`${file} is the database itself (DATABASE_URL): name another file.`);
}

/** A copy in several steps starts again after each write of another process, and might never end. */
const ALL_PAGES = 2 ** 31 - 1;
const WAIT_MS = 10_000;
/** SQLITE_BUSY, and SQLITE_CORRUPT and SQLITE_NOTADB */
const BUSY = 5;
const DAMAGED: readonly number[] = [11, 26];
/** SQLite applies a log of these names to whatever file is there. */
const LOG_ENDS = ['-wal', '-shm', '-journal'];

const openSqliteKind = (path: string): Kind => ({
	async copyTo(file) {
		if (!existsSync(path)) throw refuse(`There is no database at ${path}.`);
		const source = new DatabaseSync(path, { timeout: WAIT_MS });
		try {
			await backup(source, file, { rate: ALL_PAGES });
		} finally {
			source.close();
		}
	},
	check: async (file) => checkFile(file, file),
	async replaceBy(file, { force, stamp }) {
		createPrivateFolder(dirname(path));
		const copy = `${path}.restoring`;
		const held = existsSync(path) ? lockSqliteFile(path) : null;
		try {
			if (held && !held.isEmpty && !force) {
				throw refuse(`${path} has data: add --force to replace it. Its data is kept in another file.`);
			}
			removeWithLogs(copy);
			// copyFile would give the copy the mode of the file.
			const isNew = { flags: 'wx', mode: PRIVATE_FILE_MODE };
			await pipeline(createReadStream(file), createWriteStream(copy, isNew));
			const version = checkFile(copy, file);
			prepareCopy(copy);
			const kept = `${path}.before-restore-${stamp}`;
			if (held && !held.isEmpty) keepReplaced(path, kept, held.database);
			for (const end of LOG_ENDS) if (existsSync(path + end)) renameSync(path + end, kept + end);
			renameSync(copy, path);
			return { version, kept: held && !held.isEmpty ? kept : null };
		} finally {
			held?.database.close();
			removeWithLogs(copy);
		}
	}
});

function removeWithLogs(file: string): void {
	for (const end of ['', ...LOG_ENDS]) rmSync(file + end, { force: true });
}

export function readSchemaVersion(database: DatabaseSync): number {
	const applied = database.prepare('select version, name from schema_migrations order by version').all();
	return schemaVersion(applied as unknown as AppliedMigration[]);
}

/** Also folds the write-ahead log into the file. @param name for messages */
function checkFile(file: string, name: string): number {
	const database = new DatabaseSync(file);
	try {
		database.exec('pragma journal_mode = delete');
		const [found] = database.prepare('pragma integrity_check(1)').all();
		if (found?.['integrity_check'] !== 'ok') {
			throw refuse(`${name} is damaged: ${String(found?.['integrity_check'])}.`);
		}
		if (database.prepare('pragma foreign_key_check').all().length > 0) {
			throw refuse(`${name} is damaged: rows refer to rows that are missing.`);
		}
		return readSchemaVersion(database);
	} catch (error) {
		if (resultCode(error) === 0) throw error;
		const message = error instanceof Error ? error.message : String(error);
		throw refuse(`${name} is not an intact SQLite database of Airtill: ${message}.`, {
			cause: error
		});
	} finally {
		database.close();
	}
}

/** Locks the database until it is closed: a running server keeps a lock of its own on the file. */
export function lockSqliteFile(path: string): { database: DatabaseSync; isEmpty: boolean } {
	const database = new DatabaseSync(path);
	try {
		database.exec('pragma locking_mode = exclusive; begin exclusive; commit');
		const tables = database.prepare('select count(*) as count from sqlite_schema').get();
		return { database, isEmpty: tables?.['count'] === 0 };
	} catch (error) {
		const code = resultCode(error) & 0xff;
		if (DAMAGED.includes(code)) return { database, isEmpty: false };
		database.close();
		if (code !== BUSY) throw error;
		throw refuse(`${path} is in use: stop Airtill, then try again.`, { cause: error });
	}
}

function keepReplaced(path: string, kept: string, database: DatabaseSync): void {
	try {
		database.exec('pragma journal_mode = delete');
		// It stays, emptied, while the lock is held.
		rmSync(`${path}-journal`, { force: true });
	} catch (error) {
		if (!DAMAGED.includes(resultCode(error) & 0xff)) throw error;
	}
	// A link, so that there is a database at `path` at every moment.
	linkSync(path, kept);
}

/** Makes the copy fit to go on from its moment. */
function prepareCopy(file: string): void {
	const database = new DatabaseSync(file);
	try {
		database.exec(`begin;
			insert into sqlite_sequence (name, seq) select name, 0 from sqlite_schema
				where type = 'table' and sql like '%autoincrement%' and name not in (select name from sqlite_sequence);
			update sqlite_sequence set seq = seq + ${ID_GAP};
			${ASK_ABOUT_UNSENT};
			commit`);
	} finally {
		database.close();
	}
}

/** Begins the name of the schema that keeps what a restore replaced. */
export const KEPT_PREFIX = 'before_restore_';

/** The end of a long list of errors says nothing new. */
const MAX_ERROR_CHARACTERS = 2_000;

const SKIP_IDS = `do $$ declare s record; begin
	for s in select sequencename as name, coalesce(last_value, 0) as used from pg_sequences where schemaname = current_schema() loop
		perform setval(format('%I', s.name), s.used + ${ID_GAP});
	end loop;
end $$`;

function openPostgresKind(url: string): Kind {
	const { name, env } = connectionOf(url);
	const kind: Kind = {
		async copyTo(file) {
			const { schema } = await readState(url);
			const what = ['--format=custom', '--no-owner', '--no-privileges', `--schema="${schema}"`];
			await runProgram('pg_dump', [...what, `--file=${file}`, `--dbname=${name}`], env);
		},
		async check(file) {
			// Reads the whole file.
			await runProgram('pg_restore', ['--file=/dev/null', file], env);
			const { schema } = await readState(url);
			const rows = ['--data-only', `--schema=${schema}`, '--table=schema_migrations', '--file=-'];
			const text = await runProgram('pg_restore', [...rows, file], env);
			const applied = [...text.matchAll(/^(\d+)\t(\S+)\t/gm)];
			if (applied.length === 0) throw refuse(`${file} has no data of Airtill in the schema ${schema}.`);
			return schemaVersion(applied.map(([, version, name = '']) => ({ version: Number(version), name })));
		},
		async replaceBy(file, { force, stamp }) {
			const version = await kind.check(file);
			// Reading a large file takes minutes, in which somebody may start Airtill.
			const { schema, isEmpty, users } = await readState(url);
			if (users !== null) {
				throw refuse(`The database is in use by ${users}: stop Airtill, then try again.`);
			}
			if (!isEmpty && !force) {
				throw refuse('The database has data: add --force to replace it. Its data is kept in a schema.');
			}
			const kept = KEPT_PREFIX + stamp;
			const before = [
				// A server that starts now waits for this transaction.
				`select pg_advisory_xact_lock(${MIGRATION_LOCK} ${OF_SCHEMA})`,
				...(isEmpty ? [] : [`alter schema "${schema}" rename to ${kept}`, `create schema "${schema}"`])
			];
			const commands = (texts: string[]) => texts.map((text) => `--command=${text}`);
			const psql = ['--no-psqlrc', '--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1'];
			const after = [`set search_path to "${schema}"`, ASK_ABOUT_UNSENT, SKIP_IDS];
			const writing = [...commands(before), '--file=-', ...commands(after)];
			await pipe(
				startProgram(
					'pg_restore',
					['--no-owner', '--no-privileges', `--schema=${schema}`, '--file=-', file],
					env
				),
				startProgram('psql', [...psql, `--dbname=${name}`, ...writing], env)
			);
			return { version, kept: isEmpty ? null : `schema ${kept}` };
		}
	};
	return kind;
}

/** Every user of the machine can read command lines: the password goes into the environment. */
function connectionOf(url: string): { name: string; env: NodeJS.ProcessEnv } {
	const address = new URL(url);
	const password = decodeURIComponent(address.password) || address.searchParams.get('password');
	address.password = '';
	address.searchParams.delete('password');
	// libpq keeps a plus sign.
	address.search = address.search.replaceAll('+', '%20');
	return { name: address.href, env: { ...process.env, ...(password ? { PGPASSWORD: password } : {}) } };
}

/**
 * Reads the schema of `url`, whether it has no tables, and the names of other programs that may use it. Processes of other
 * cities do not (postgres.ts gives connections their names).
 * @throws Refused if it does not exist
 */
async function readState(url: string) {
	const database = openPostgres(url, { poolSize: 1 });
	try {
		// Processes of the server itself have no user. Of other users' connections, only the user is always visible.
		const { rows } = await sql<{ schema: string | null; isEmpty: boolean; users: string | null }>`
			select current_schema() as schema,
				not exists (select 1 from pg_tables where schemaname = current_schema()) as "isEmpty",
				(select string_agg(distinct coalesce(nullif(application_name, ''), 'a program without a name'), ', ')
					from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
					and usesysid is not null and (application_name is null or application_name not like 'airtill _%'
						or application_name = current_setting('application_name')
						or lower(application_name) = 'airtill ' || current_schema())) as users`.execute(database.db);
		const [{ schema, ...state } = { schema: null, isEmpty: true, users: null }] = rows;
		if (schema === null) throw refuse('The schema in DATABASE_URL does not exist.');
		return { schema, ...state };
	} finally {
		await database.close();
	}
}

/** The end of its input commits the second program's transaction, so it comes only after all of the first's output. */
async function pipe(reader: Program, writer: Program) {
	const { stdin } = writer.child;
	if (stdin) reader.child.stdout?.pipe(stdin, { end: false });
	reader.child.stdin?.end();
	writer.child.stdout?.resume();
	try {
		await Promise.all([writer.done, reader.done.then(() => stdin?.end())]);
	} finally {
		reader.child.kill();
		writer.child.kill();
	}
}

interface Program {
	child: ChildProcess;
	/** Resolves when the program has succeeded. @throws Refused with its messages */
	done: Promise<void>;
}

/**
 * Starts one of PostgreSQL's client programs.
 * @param env its environment: every user of the machine can read command lines, so the password is in here
 * @throws Refused if it is missing, through `done`
 */
function startProgram(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Program {
	const child = spawn(name, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
	let messages = '';
	child.stderr.setEncoding('utf8').on('data', (text: string) => {
		messages = (messages + text).slice(0, MAX_ERROR_CHARACTERS);
	});
	// A program that ends early closes its input. Its exit code tells.
	child.stdin.on('error', () => {});
	const done = new Promise<void>((resolve, reject) => {
		child.on('error', (error: NodeJS.ErrnoException) => {
			const advice = "install PostgreSQL's client programs (Debian: apt-get install postgresql-client)";
			const isMissing = error.code === 'ENOENT';
			reject(refuse(isMissing ? `${name} is not on PATH: ${advice}.` : error.message));
		});
		child.on('close', (code, signal) => {
			if (code === 0) resolve();
			else reject(refuse(messages.trim() || `${name} ended with ${code ?? signal}.`));
		});
	});
	return { child, done };
}

/** Runs a program to its end. @returns what it printed */
async function runProgram(name: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
	const { child, done } = startProgram(name, args, env);
	let output = '';
	child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text));
	child.stdin?.end();
	await done;
	return output;
}
