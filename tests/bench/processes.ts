/** CPU time of the programs that serve a call, and the commits that a disk takes. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';

const TICKS_PER_SECOND = 100;

/** CPU seconds of a process and, with `ended`, of its children that have ended; 0 if it is gone. */
function cpuSeconds(pid: number, { ended = false } = {}): { seconds: number; parent: number } {
	try {
		const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? [];
		const [, parent = 0] = fields;
		const ticks = fields.slice(11, ended ? 15 : 13).reduce((sum, one) => sum + one, 0);
		return { seconds: ticks / TICKS_PER_SECOND, parent };
	} catch {
		return { seconds: 0, parent: 0 };
	}
}

export const cpuOf = (pid: number): number => cpuSeconds(pid).seconds;

/** CPU seconds of a PostgreSQL on this machine: of its first process and all others. */
export async function cpuOfPostgres(url: string): Promise<() => number> {
	const [row] = await query(url, 'show data_directory');
	const file = path.join(String(row?.['data_directory']), 'postmaster.pid');
	const first = Number(readFileSync(file, 'utf8').split('\n')[0]);
	return () =>
		readdirSync('/proc')
			.filter((name) => /^\d+$/.test(name))
			.map((pid) => cpuSeconds(Number(pid)))
			.filter(({ parent }) => parent === first)
			.reduce((sum, { seconds }) => sum + seconds, cpuSeconds(first, { ended: true }).seconds);
}

export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
	const client = new pg.Client({ connectionString: url });
	await client.connect();
	const { rows } = await client.query<Record<string, unknown>>(text);
	await client.end();
	return rows;
}

/** Durable commits of one row per second: SQLite with the settings of db/sqlite.ts, one writer. */
export function sqliteCommits(folder: string, seconds: number): number {
	const database = new DatabaseSync(path.join(folder, `raw-${performance.now()}.db`));
	database.exec('pragma journal_mode = wal; pragma synchronous = full; create table rows (text text)');
	const insert = database.prepare('insert into rows values (?)');
	const started = performance.now();
	let commits = 0;
	for (; performance.now() - started < seconds * 1000; commits += 1) insert.run('x'.repeat(100));
	const rate = commits / ((performance.now() - started) / 1000);
	database.close();
	return rate;
}

/** The same on PostgreSQL, by as many writers. */
export async function postgresCommits(url: string, seconds: number, writers: number): Promise<number> {
	await query(url, 'create table if not exists raw_rows (text text)');
	const pool = new pg.Pool({ connectionString: url, max: writers });
	const started = performance.now();
	let commits = 0;
	const write = async () => {
		while (performance.now() - started < seconds * 1000) {
			await pool.query('insert into raw_rows values ($1)', ['x'.repeat(100)]);
			commits += 1;
		}
	};
	await Promise.all(Array.from({ length: writers }, write));
	const rate = commits / ((performance.now() - started) / 1000);
	await pool.end();
	return rate;
}
