import { spawn, type ChildProcess } from 'node:child_process';
import process from 'node:process';
import { sql } from 'kysely';
import { openPostgres } from '../postgres/postgres.ts';
import { MIGRATION_LOCK, schemaVersion } from '../migrate.ts';
import { ASK_ABOUT_UNSENT, BackupError, ID_GAP, type Kind } from './kind.ts';

/** The schema that keeps what a restore replaced; backups leave it out. */
const KEPT_PREFIX = 'before_restore_';

/** The end of a long list of errors says nothing new. */
const MAX_ERROR_CHARACTERS = 2_000;

const SKIP_IDS = `do $$ declare s record; begin
	for s in select sequencename as name, coalesce(last_value, 0) as used from pg_sequences where schemaname = 'public' loop
		perform setval(format('public.%I', s.name), s.used + ${ID_GAP});
	end loop;
end $$`;

export function postgresBackup(url: string): Kind {
	const { name, env } = connectionOf(url);
	const kind: Kind = {
		async copyTo(file) {
			const what = ['--format=custom', '--no-owner', '--no-privileges', `--exclude-schema=${KEPT_PREFIX}*`];
			await runProgram('pg_dump', [...what, `--file=${file}`, `--dbname=${name}`], env);
		},
		async check(file) {
			// Reads the whole file.
			await runProgram('pg_restore', ['--file=/dev/null', file], env);
			const rows = ['--data-only', '--schema=public', '--table=schema_migrations', '--file=-'];
			const text = await runProgram('pg_restore', [...rows, file], env);
			const applied = [...text.matchAll(/^(\d+)\t(\S+)\t/gm)];
			return schemaVersion(applied.map(([, version, name = '']) => ({ version: Number(version), name })));
		},
		async replaceBy(file, { force, stamp }) {
			const version = await kind.check(file);
			// Reading a large file takes minutes, in which somebody may start Airtill.
			const isEmpty = await examine(url);
			if (!isEmpty && !force) {
				throw new BackupError(
					'The database has data: add --force to replace it. Its data is kept in a schema.'
				);
			}
			const kept = KEPT_PREFIX + stamp;
			const before = [
				// A server that starts now waits for this transaction.
				`select pg_advisory_xact_lock(${MIGRATION_LOCK})`,
				...(isEmpty ? [] : [`alter schema public rename to ${kept}`, 'create schema public'])
			];
			const commands = (texts: string[]) => texts.map((text) => `--command=${text}`);
			const psql = ['--no-psqlrc', '--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1'];
			const after = ['set search_path to public', ASK_ABOUT_UNSENT, SKIP_IDS];
			const writing = [...commands(before), '--file=-', ...commands(after)];
			await pipe(
				startProgram('pg_restore', ['--no-owner', '--no-privileges', '--file=-', file], env),
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
	return { name: address.href, env: { ...process.env, ...(password ? { PGPASSWORD: password } : {}) } };
}

/** Returns true if the database has no tables. @throws BackupError while anything else is connected to it */
async function examine(url: string): Promise<boolean> {
	const database = openPostgres(url, { poolSize: 1 });
	try {
		// Processes of the server itself have no user. Of other users' connections, only the user is always visible.
		const query = sql<{ name: string | null }>`select distinct application_name as name from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null`;
		const others = await query.execute(database.db);
		if (others.rows.length > 0) {
			const names = others.rows.map(({ name }) => name || 'a program without a name').join(', ');
			throw new BackupError(`The database is in use by ${names}: stop Airtill, then try again.`);
		}
		const tables = await sql`select 1 from pg_tables where schemaname = 'public' limit 1`.execute(
			database.db
		);
		return tables.rows.length === 0;
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
	/** Resolves when the program has succeeded. @throws BackupError with its messages */
	done: Promise<void>;
}

/**
 * Starts one of PostgreSQL's client programs.
 * @param env its environment: every user of the machine can read command lines, so the password is in here
 * @throws BackupError if it is missing, through `done`
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
			reject(new BackupError(isMissing ? `${name} is not on PATH: ${advice}.` : error.message));
		});
		child.on('close', (code, signal) => {
			if (code === 0) resolve();
			else reject(new BackupError(messages.trim() || `${name} ended with ${code ?? signal}.`));
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
