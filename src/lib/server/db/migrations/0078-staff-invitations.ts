import type { Migration } from '../migrate.ts';

/** People whom an owner has invited and who have not accepted. Only then they become staff. */
export const staffInvitations: Migration = {
	name: '0078-staff-invitations',
	statements: ({ id, int, end }) => [
		`create table staff_invitations (
			id ${id},
			employer_id ${int} not null references accounts (id),
			email text not null,
			staff_role text not null check (staff_role in ('manager', 'cashier')),
			token_hash text,
			invited_at ${int} not null,
			unique (employer_id, email)
		${end}`,
		`create unique index staff_invitations_token on staff_invitations (token_hash)`
	]
};
