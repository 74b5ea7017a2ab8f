import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import pg from 'pg';

/** A look behind the API, and the way to states that the API cannot make (a suspended account, say). */
export interface Sql {
	/** Rows of a query; `?` is a parameter on both databases. */
	all(text: string, ...parameters: Value[]): Promise<Row[]>;
	run(text: string, ...parameters: Value[]): Promise<void>;
	/** First column of the first row as a number; 0 where there is none. */
	count(text: string, ...parameters: Value[]): Promise<number>;
	close(): Promise<void>;
}

export type Value = string | number | null;
export type Row = Readonly<Record<string, unknown>>;

const busyTimeoutMs = 10_000;
const int8Oid = 20;

/** @param databaseUrl of a server under test */
export async function openSql(databaseUrl: string): Promise<Sql> {
	const { all, close } = databaseUrl.startsWith('file:')
		? openSqlite(databaseUrl.slice('file:'.length))
		: await openPostgres(databaseUrl);
	return {
		all,
		close,
		async run(text, ...parameters) {
			await all(text, ...parameters);
		},
		async count(text, ...parameters) {
			const [row] = await all(text, ...parameters);
			return Number(Object.values(row ?? {})[0] ?? 0);
		}
	};
}

function openSqlite(file: string): Pick<Sql, 'all' | 'close'> {
	const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true });
	return {
		all: async (text, ...parameters: SQLInputValue[]) =>
			database
				.prepare(text)
				.all(...parameters)
				.map((row) => ({ ...row })),
		close: async () => database.close()
	};
}

async function openPostgres(url: string): Promise<Pick<Sql, 'all' | 'close'>> {
	const types = new pg.TypeOverrides();
	types.setTypeParser(int8Oid, Number);
	const client = new pg.Client({ connectionString: url, types });
	// The tests stop a database under its clients; that is no accident of this client's.
	client.on('error', () => {});
	await client.connect();
	return {
		async all(text, ...parameters) {
			let index = 0;
			const numbered = text.replace(/\?/g, () => `$${(index += 1)}`);
			const { rows } = await client.query<Row>(numbered, parameters);
			return rows;
		},
		close: () => client.end()
	};
}
