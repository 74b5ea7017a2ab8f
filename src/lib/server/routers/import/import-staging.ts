import { DatabaseSync } from 'node:sqlite';
import type { ImportedRouter, RowRemark } from './import-rows.ts';

export type ImportStaging = ReturnType<typeof openImportStaging>;

/**
 * Keeps the rows of a file until all of them are known to be valid.
 *
 * Purpose: files may have any number of rows, and all of them are imported or none.
 * Storage: a temporary SQLite database. SQLite writes it to a temporary file and deletes it when it is closed.
 */
export function openImportStaging() {
	// '' names a private temporary database (sqlite.org/inmemorydb.html).
	const database = new DatabaseSync('');
	database.exec(`pragma journal_mode = off;
		create table ids (id text primary key, line integer not null) without rowid;
		create table contents (hash text primary key, count integer not null) without rowid;
		create table rows (seq integer primary key, router text not null);
		create table notes (line integer not null, text text not null);
		begin`);
	const addId = database.prepare('insert into ids (id, line) values (?, ?) on conflict do nothing');
	const lineOfId = database.prepare('select line from ids where id = ?');
	const countContent = database.prepare(
		'insert into contents (hash, count) values (?, 1) on conflict do update set count = count + 1 returning count'
	);
	const addRow = database.prepare('insert into rows (router) values (?)');
	const addNote = database.prepare('insert into notes (line, text) values (?, ?)');
	const chunk = database.prepare('select seq, router from rows where seq > ? order by seq limit ?');
	const countRows = database.prepare('select count(*) as count from rows');
	return {
		/** @returns the line of an earlier row with this id, or null */
		takeId(id: string, line: number): number | null {
			return addId.run(id, line).changes > 0 ? null : Number(lineOfId.get(id)?.['line']);
		},
		/** @returns 1 for the first row with this content, 2 for the second */
		ordinalOf: (hash: string): number => Number(countContent.get(hash)?.['count']),
		add: (router: ImportedRouter): void => void addRow.run(JSON.stringify(router)),
		note: (line: number, text: string): void => void addNote.run(line, text),
		count: (): number => Number(countRows.get()?.['count']),
		/** Can be read again. */
		*chunks(size: number): Generator<ImportedRouter[]> {
			for (let after = 0; ;) {
				const rows = chunk.all(after, size);
				if (rows.length === 0) return;
				yield rows.map(({ router }) => JSON.parse(String(router)) as ImportedRouter);
				after = Number(rows.at(-1)?.['seq']);
			}
		},
		*notes(): Generator<RowRemark> {
			for (const { line, text } of database.prepare('select line, text from notes').iterate()) {
				yield { line: Number(line), text: String(text) };
			}
		},
		close: (): void => database.close()
	};
}
