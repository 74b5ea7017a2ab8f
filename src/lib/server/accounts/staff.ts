import { normaliseEmail } from '#lib/domain/email.ts';
import type { Base } from '#lib/server/base.ts';
import { countOf, first, isChanged } from '#lib/server/db/first.ts';
import { Refusal } from '#lib/server/platform/errors.ts';
import type { Account } from './accounts.ts';

export type StaffRole = NonNullable<Account['staff_role']>;

export const STAFF_ROLES = ['cashier', 'manager'] as const satisfies readonly StaffRole[];
/** Of one owner. */
export const MAX_STAFF = 50;

/** `taken`: the email address has an account. */
export class StaffRefused extends Refusal<'taken' | 'full'> {}

/** The owner, and who acts for the audit log. */
export interface Employer {
	employerId: number;
	by: string;
}

export const staffOf = ({ database: { db } }: Base, employerId: number): Promise<Account[]> =>
	db
		.selectFrom('accounts')
		.selectAll()
		.where('employer_id', '=', employerId)
		.orderBy('id')
		.limit(MAX_STAFF)
		.execute();

/**
 * Adds a person to the staff of an owner. Adding the same person with the same role again changes nothing, and people
 * who were removed can be added again, also by another owner.
 * @throws StaffRefused
 */
export function addStaff(
	{ audit, clock, database }: Base,
	{ email: typed, role }: { email: string; role: StaffRole },
	{ employerId, by }: Employer
): Promise<{ person: Account; isNew: boolean }> {
	const email = normaliseEmail(typed);
	return database.transact(async (trx) => {
		const known = await first(trx.selectFrom('accounts').selectAll().where('email', '=', email));
		if (known?.employer_id === employerId && known.staff_role === role)
			return { person: known, isNew: false };
		const isFree = known?.role === 'staff' && known.employer_id === null && known.status === 'active';
		if (known && !isFree) throw new StaffRefused('taken');
		const count = await countOf(trx.selectFrom('accounts').where('employer_id', '=', employerId));
		if (count >= MAX_STAFF) throw new StaffRefused('full');
		const employment = { role: 'staff', employer_id: employerId, staff_role: role } as const;
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
		if (!added) throw new StaffRefused('taken');
		const after = { account_id: added.id, employer: employerId, staff_role: role };
		await audit.record(trx, { actor: by, action: 'staff.added', after });
		return { person: added, isNew: true };
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
export function removeStaff(
	{ audit, database }: Base,
	id: number,
	{ employerId, by }: Employer
): Promise<Account | null> {
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
