import type { Migration } from '../migrate.ts';

/** An administrator looks at the pages of an owner, in one sign-in session. */
export const ownerViews: Migration = {
	name: '0053-owner-views',
	statements: ({ id, int, end }) => [
		`create table owner_views (
			id ${id},
			account_id ${int} not null references accounts (id),
			admin_id ${int} not null references accounts (id),
			sign_in_session text not null,
			reason text not null,
			started_at ${int} not null,
			ends_at ${int} not null,
			ended_at ${int}
		${end}`,
		`create index owner_views_account on owner_views (account_id, started_at)`,
		`create index owner_views_open on owner_views (sign_in_session) where ended_at is null`
	]
};
