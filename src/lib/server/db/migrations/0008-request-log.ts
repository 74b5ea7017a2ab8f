import type { Migration } from '../migrate.ts';

/** No foreign keys: rows are written behind, and one without its account must not stop its batch. */
export const requestLog: Migration = {
	name: '0008-request-log',
	statements: ({ sqlite, id, int, end }) => [
		`create table request_log (
			id ${id},
			account_id ${int} not null,
			key_id ${int} not null,
			at ${int} not null,
			method text not null,
			path text not null,
			status ${int} not null,
			duration_ms ${int} not null,
			request_id text not null
		${end}`,
		`create index request_log_account on request_log (account_id, id)`,
		`create table key_usage (
			key_id ${int} not null,
			minute ${int} not null,
			calls ${int} not null,
			primary key (key_id, minute)
		${sqlite ? ') strict, without rowid' : ')'}`,
		`create index key_usage_minute on key_usage (minute)`
	]
};
