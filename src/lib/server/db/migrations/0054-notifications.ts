import type { Migration } from '../migrate.ts';

/** Emails and SMS. `key` names the reason, which has one row. */
export const notifications: Migration = {
	name: '0054-notifications',
	statements: ({ id, int, end }) => [
		`create table notifications (
			id ${id},
			account_id ${int} references accounts (id),
			channel text not null check (channel in ('email', 'sms')),
			kind text not null,
			key text not null unique,
			address text not null,
			content_sealed text,
			status text not null check (status in ('queued', 'sending', 'sent', 'failed', 'uncertain')),
			tries ${int} not null default 0,
			price_minor ${int} not null,
			currency text not null,
			created_at ${int} not null
		${end}`,
		`create index notifications_account on notifications (account_id, created_at)`,
		`create index notifications_address on notifications (address, created_at)`,
		`create index notifications_created on notifications (created_at)`
	]
};
