import type { Migration } from '../migrate.ts';

/** Free time that a person gave to a session. `form` names the form, so that one sent twice gives it once. */
export const extraTime: Migration = {
	name: '0051-extra-time',
	statements: ({ id, int, end }) => [
		`create table extra_time (
			id ${id},
			session_id ${int} not null references sessions (id),
			account_id ${int} not null references accounts (id),
			form text not null unique,
			seconds ${int} not null check (seconds > 0),
			created_at ${int} not null
		${end}`,
		`create index extra_time_session on extra_time (session_id)`,
		`create index extra_time_account on extra_time (account_id, created_at)`
	]
};
