/**
 * A distributed engine such as Citus understands PostgreSQL's SQL but not all of it (src/docs/scaling.md). What it may lack is
 * in the named files only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../../src/lib/server', import.meta.url));
/** Without the files of SQLite; `textOf` leaves out comments and the statements that only SQLite runs. */
const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
	.map((file) => file.replaceAll(path.sep, '/'))
	.filter((file) => file.endsWith('.ts') && !/^db\/sqlite/.test(file))
	.sort();
const textOf = (file: string) =>
	readFileSync(path.join(root, file), 'utf8')
		.replace(/\/\*.*?\*\//gs, '')
		.replace(/^\s*\/\/.*$/gm, '')
		.replace(/const (SQLITE\w*)[^=]*= \[.*?\n\];/gs, '')
		.replace(/\s+/g, ' ');
const found = (sql: RegExp) => files.filter((file) => new RegExp(sql, 'i').test(textOf(file)));

const POSTGRES = 'db/postgres.ts';
const LOCKS = 'db/locks.ts';
const BACKUP = 'db/backup.ts';
const INITIAL = 'db/migrations/0001-initial.ts';
const BOOKS = ['db/migrations/0006-books.ts', 'db/migrations/0009-payouts.ts'];
const BOOKS_BY_ROW = 'db/migrations/0011-books-by-row.ts';

/** Constructs that an engine lacks, with the files that may have them. */
const ISOLATED: Readonly<Record<string, { sql: RegExp; files: readonly string[] }>> = {
	'advisory locks': { sql: /pg_(try_)?advisory/, files: [BACKUP, LOCKS, 'db/migrate.ts'] },
	'row locks': {
		sql: /\bfor (no key )?(update|share)\b|skip locked|for(NoKey)?Update\(|for(Key)?Share\(/,
		files: [LOCKS, POSTGRES]
	},
	'geometric types': { sql: /\bpoint\(|<->|<@|\bbox\(point/, files: [INITIAL, POSTGRES] },
	'GiST, GIN and other index kinds': { sql: /using (gist|gin|spgist|brin|hash)\b/, files: [INITIAL] },
	'full-text search': { sql: /to_ts(vector|query)/, files: [INITIAL, POSTGRES] },
	functions: {
		sql: /create (or replace )?(function|procedure)|plpgsql/,
		files: [INITIAL, ...BOOKS, BOOKS_BY_ROW]
	},
	triggers: { sql: /create (constraint )?trigger/, files: [...BOOKS] },
	'calls of our functions': { sql: /without_accents\(/, files: [INITIAL, POSTGRES] },
	'unlogged tables': { sql: /unlogged/, files: ['db/migrations/0003-rate-counts.ts'] },
	// Citus runs these on one shard or on a table that is not distributed: jobs and audit_log are not.
	'recursive queries': { sql: /with recursive|withRecursive\(/, files: ['audit.ts', 'jobs.ts'] }
};

/** Constructs that nothing uses and nothing may. */
const NOWHERE: Readonly<Record<string, RegExp>> = {
	'notifications between processes': /\b(un)?listen \w+`|\bnotify \w+`|pg_notify/,
	'locks on tables': /\block table\b/,
	'constraints that are checked late': /\bdeferrable\b|\binitially deferred\b/,
	'exclusion constraints': /\bexclude using\b/,
	inheritance: /\binherits \(/,
	partitions: /\bpartition (by range|by list|by hash|of)\b/,
	extensions: /create extension/,
	'types of our own': /create (type|domain)\b/,
	'temporary tables': /create temp(orary)? table/,
	'materialized views': /materialized view/,
	'computed columns': /generated always as \(/,
	'row addresses': /\b(ctid|xmin|xmax)\b/,
	'samples and grouping sets': /\btablesample\b|\bgrouping sets\b|\brollup ?\(|\bcube ?\(/,
	'transactions in two phases': /prepare transaction/,
	'building an index again': /\breindex\b/,
	'serial columns, whose ids exceed 2^53 on CockroachDB': /\b(big|small)?serial\b/
};

it('the files are found', () => {
	expect(files.length).toBeGreaterThan(100);
	expect(files).toContain(INITIAL);
});

it.each(Object.entries(ISOLATED))(
	'%s are in the files that another engine replaces',
	(_name, { sql, files }) => {
		expect(found(sql)).toEqual([...files].sort());
	}
);

it.each(Object.entries(NOWHERE))('%s are not used', (_name, sql) => {
	expect(found(sql)).toEqual([]);
});
