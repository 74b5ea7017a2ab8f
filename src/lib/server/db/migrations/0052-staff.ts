import type { Migration } from '../migrate.ts';

/**
 * People whom an owner invites. SQLite cannot change a check, so both databases replace the column of the role.
 * `employer_id` is null for everybody else, and for people who were removed.
 */
export const staff: Migration = {
	name: '0052-staff',
	statements: ({ int }) => [
		`alter table accounts add column new_role text not null default 'app'
			check (new_role in ('app', 'owner', 'admin', 'staff'))`,
		`update accounts set new_role = role`,
		`alter table accounts drop column role`,
		`alter table accounts rename column new_role to role`,
		`alter table accounts add column employer_id ${int} references accounts (id)`,
		`alter table accounts add column staff_role text check (staff_role in ('manager', 'cashier'))`,
		`create index accounts_employer on accounts (employer_id) where employer_id is not null`
	]
};
