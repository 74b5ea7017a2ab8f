import type { Migration } from '../migrate.ts';

/** Tokens of operators that the processes of an installation share. */
export const operatorTokens: Migration = {
	name: '0012-operator-tokens',
	statements: ({ int, end }) => [
		`create table operator_tokens (
			name text primary key,
			token_sealed text not null default '',
			valid_until ${int} not null default 0,
			claimed_until ${int} not null
		${end}`
	]
};
