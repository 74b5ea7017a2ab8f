import type { Migration } from '../migrate.ts';

/** Accounts list their sessions, payments and events; the request log shows error codes. */
export const apiLists: Migration = {
	name: '0039-api-lists',
	statements: () => [
		// Status first: without statistics SQLite uses the older one of two indexes that fit.
		'create index sessions_account_status on sessions (account_id, status, created_at, id)',
		'create index payments_account_status on payments (account_id, status, created_at, id)',
		'create index sessions_account_created on sessions (account_id, created_at, id)',
		'create index payments_account_created on payments (account_id, created_at, id)',
		// Events without data have expired (webhooks/upkeep.ts).
		`create index events_account on events (account_id, created_at, id) where data <> '{}'`,
		// Last: on PostgreSQL these lock the tables for readers until the commit.
		'alter table request_log add column error_code text',
		'drop index sessions_account',
		'drop index payments_account'
	]
};
