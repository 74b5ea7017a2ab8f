import type { Migration } from '../migrate.ts';

/** Accounts list their sessions, payments and events; the request log shows error codes. */
export const apiLists: Migration = {
	name: '0039-api-lists',
	statements: () => [
		'drop index sessions_account',
		'drop index payments_account',
		// Before the others: without statistics SQLite uses the older one of two indexes that fit.
		'create index sessions_account_status on sessions (account_id, status, created_at, id)',
		'create index payments_account_status on payments (account_id, status, created_at, id)',
		'create index sessions_account on sessions (account_id, created_at, id)',
		'create index payments_account on payments (account_id, created_at, id)',
		// Events without data have expired (webhooks/upkeep.ts).
		`create index events_account on events (account_id, created_at, id) where data <> '{}'`,
		'alter table request_log add column error_code text'
	]
};
