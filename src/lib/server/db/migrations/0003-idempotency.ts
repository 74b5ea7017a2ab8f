import type { Migration } from '../migrate.ts';

export const idempotency: Migration = {
	name: '0003-idempotency',
	statements: ({ int, end }) => [
		`create table idempotent_answers (
			account_id ${int} not null references accounts (id),
			method text not null,
			path text not null,
			key text not null,
			fingerprint text not null,
			status ${int} not null,
			location text,
			body text not null,
			created_at ${int} not null,
			primary key (account_id, method, path, key)
		${end}`,
		`create index idempotent_answers_created on idempotent_answers (created_at)`
	]
};
