import type { Migration } from '../migrate.ts';

/** Whose an access point is, as an administrator decided after two accounts had registered it. */
export const accessPointOwners: Migration = {
	name: '0072-access-point-owners',
	statements: ({ int, end }) => [
		`create table access_point_owners (
			access_point text primary key,
			owner_account_id ${int} not null references accounts (id),
			decided_at ${int} not null
		${end}`
	]
};
