import { lockName } from '../db/locks.ts';
import { normaliseEmail } from '#lib/domain/email.ts';
import { accountActor } from '#lib/server/audit.ts';
import type { Base } from '#lib/server/base.ts';
import { countRows, first, isChanged } from '#lib/server/db/queries.ts';
import type { Row } from '#lib/server/db/schema.ts';
import { Refused } from '#lib/server/platform/errors.ts';
import type { Account } from './accounts.ts';

/**
 * Staff of an owner: cashiers and managers. An owner invites an address, the person accepts by a link, and has no API
 * keys. A person is on one staff at a time.
 */

export type StaffRole = NonNullable<Account['staff_role']>;

export const STAFF_ROLES = ['cashier', 'manager'] as const satisfies readonly StaffRole[];
/** Of one owner. */
export const MAX_STAFF = 50;

/** `known`: the person is on this staff already. */
type StaffRefusal = 'known' | 'full';

/** The owner, and who acts for the audit log. */
export interface Employer {
	employerId: number;
	by: string;
}

export const listStaff = ({ database: { db } }: Base, employerId: number): Promise<Account[]> =>
	db
		.selectFrom('accounts')
		.selectAll()
		.where('employer_id', '=', employerId)
		.orderBy('id')
		.limit(MAX_STAFF)
		.execute();

/** Invitations that nobody has accepted are forgotten after this. */
const INVITATION_MS = 30 * 24 * 60 * 60 * 1000;

export type Invitation = Row<'staff_invitations'>;

export const listInvitations = ({ database: { db } }: Base, employerId: number): Promise<Invitation[]> =>
	db
		.selectFrom('staff_invitations')
		.selectAll()
		.where('employer_id', '=', employerId)
		.orderBy('id')
		.limit(MAX_STAFF)
		.execute();

/**
 * Invites an address, whether it has an account or not: the owner must not learn that. Inviting it again changes the
 * role. The person becomes staff with `acceptInvitation`.
 * @throws Refused `known`: the person is on this staff; `full`
 */
export function inviteStaff(
	{ audit, clock, database }: Base,
	{ email: typed, role }: { email: string; role: StaffRole },
	{ employerId, by }: Employer
): Promise<Invitation> {
	const email = normaliseEmail(typed);
	return database.transact(async (trx) => {
		await lockName(trx, `staff of ${employerId}`);
		const now = clock.now();
		await trx
			.deleteFrom('staff_invitations')
			.where('invited_at', '<', now - INVITATION_MS)
			.execute();
		const staff = trx.selectFrom('accounts').where('employer_id', '=', employerId);
		if (await first(staff.select('id').where('email', '=', email))) throw new Refused<StaffRefusal>('known');
		const others = trx.selectFrom('staff_invitations').where('employer_id', '=', employerId);
		const count = (await countRows(staff)) + (await countRows(others.where('email', '<>', email)));
		if (count >= MAX_STAFF) throw new Refused<StaffRefusal>('full');
		const invitation = await trx
			.insertInto('staff_invitations')
			.values({ employer_id: employerId, email, staff_role: role, token_hash: null, invited_at: now })
			.onConflict((conflict) =>
				conflict.columns(['employer_id', 'email']).doUpdateSet({ staff_role: role, invited_at: now })
			)
			.returningAll()
			.executeTakeFirstOrThrow();
		const after = { invitation: invitation.id, employer: employerId, staff_role: role };
		await audit.record(trx, { actor: by, action: 'staff.invited', after });
		return invitation;
	});
}

/** Ends an invitation, and the link in its email. Returns false if there is none. */
export function withdrawInvitation({ audit, database }: Base, id: number, { employerId, by }: Employer) {
	return database.transact(async (trx) => {
		const deleted = await trx
			.deleteFrom('staff_invitations')
			.where('id', '=', id)
			.where('employer_id', '=', employerId)
			.executeTakeFirst();
		if (deleted.numDeletedRows === 0n) return false;
		const after = { invitation: id, employer: employerId };
		await audit.record(trx, { actor: by, action: 'staff.invitation_withdrawn', after });
		return true;
	});
}

/** Sets the link that accepts an invitation. The link before it ends. */
export const setInvitationToken = async ({ database: { db } }: Base, id: number, hash: string) => {
	await db.updateTable('staff_invitations').set({ token_hash: hash }).where('id', '=', id).execute();
};

export const findInvitation = ({ database: { db } }: Base, hash: string): Promise<Invitation | null> =>
	first(db.selectFrom('staff_invitations').selectAll().where('token_hash', '=', hash));

/** Whether the person of an address can join a staff: it has no account, or was on a staff before. */
export const canJoin = (account: Pick<Account, 'role' | 'employer_id' | 'status'> | null): boolean =>
	account === null ||
	(account.role === 'staff' && account.employer_id === null && account.status === 'active');

/** The person who has the link becomes staff. Returns null without such an invitation, or if the person cannot join. */
export function acceptInvitation({ audit, clock, database }: Base, hash: string): Promise<Account | null> {
	return database.transact(async (trx) => {
		const invitation = await trx
			.deleteFrom('staff_invitations')
			.where('token_hash', '=', hash)
			.returningAll()
			.executeTakeFirst();
		if (!invitation) return null;
		const { email, employer_id, staff_role } = invitation;
		await lockName(trx, `staff of ${employer_id}`);
		const known = await first(trx.selectFrom('accounts').selectAll().where('email', '=', email));
		if (!canJoin(known)) return null;
		const employment = { role: 'staff', employer_id, staff_role } as const;
		const added = known
			? await trx
					.updateTable('accounts')
					.set(employment)
					.where('id', '=', known.id)
					.where('employer_id', 'is', null)
					.returningAll()
					.executeTakeFirst()
			: await trx
					.insertInto('accounts')
					.values({ ...employment, email, plan: 'default', status: 'active', created_at: clock.now() })
					.onConflict((conflict) => conflict.column('email').doNothing())
					.returningAll()
					.executeTakeFirst();
		// Somebody else was faster.
		if (!added) return null;
		const after = { account_id: added.id, employer: employer_id, staff_role };
		await audit.record(trx, { actor: accountActor(added.id), action: 'staff.added', after });
		return added;
	});
}

/** Returns false if the person is not on this staff. */
export function changeStaffRole(
	{ audit, database }: Base,
	id: number,
	role: StaffRole,
	{ employerId, by }: Employer
): Promise<boolean> {
	return database.transact(async (trx) => {
		const person = await first(
			trx.selectFrom('accounts').selectAll().where('id', '=', id).where('employer_id', '=', employerId)
		);
		if (!person || person.staff_role === role) return person !== null;
		const change = trx.updateTable('accounts').set({ staff_role: role }).where('id', '=', id);
		if (!(await isChanged(change.where('employer_id', '=', employerId)))) return false;
		const before = { account_id: id, staff_role: person.staff_role };
		const after = { account_id: id, employer: employerId, staff_role: role };
		await audit.record(trx, { actor: by, action: 'staff.role_changed', before, after });
		return true;
	});
}

/** Removes a person, who from now on opens no page. Returns the account, or null if it is not on this staff. */
export function removeStaff({ audit, database }: Base, id: number, { employerId, by }: Employer) {
	return database.transact(async (trx) => {
		const removed = await trx
			.updateTable('accounts')
			.set({ employer_id: null, staff_role: null })
			.where('id', '=', id)
			.where('employer_id', '=', employerId)
			.returningAll()
			.executeTakeFirst();
		if (!removed) return null;
		const after = { account_id: id, employer: employerId };
		await audit.record(trx, { actor: by, action: 'staff.removed', after });
		return removed;
	});
}
