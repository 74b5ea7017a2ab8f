import type { Migration } from '../migrate.ts';

/**
 * Adds time to passes, and resume codes. Existing sessions become passes of their own. Existing purchases get a code
 * when someone opens them. A code is not stored: its keyed hash finds the purchase, whose token is sealed.
 */
export const passes: Migration = {
	name: '0011-passes',
	statements: ({ int }) => [
		`alter table sessions add column extends_session_id ${int} references sessions (id)`,
		`alter table sessions add column pass_id ${int}`,
		`alter table sessions add column line_id ${int}`,
		`update sessions set pass_id = id, line_id = id`,
		`create index sessions_line on sessions (line_id)`,
		`alter table purchases add column code_hash text`,
		`alter table purchases add column token_sealed text`,
		`alter table purchases add column extends_purchase_id ${int} references purchases (id)`,
		`alter table purchases add column extends_session_id ${int}`,
		`create unique index purchases_code on purchases (code_hash)`,
		`create index purchases_extends on purchases (extends_purchase_id)`
	]
};
