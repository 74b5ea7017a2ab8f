import type { Base } from '#lib/server/base.ts';
import type { Role } from '#lib/server/contract/scopes.ts';
import { accountActor } from '#lib/server/audit/audit.ts';
import { findById } from '#lib/server/db/queries.ts';
import type { Account } from './accounts.ts';

/** The message is for the administrator. */
export class AccountChangeRefused extends Error {}

type AccountChange =
	{ status: Account['status'] } | { role: Role } | { plan: Exclude<Account['plan'], 'portal'> };

const isActiveAdmin = ({ role, status }: Pick<Account, 'role' | 'status'>) =>
	role === 'admin' && status === 'active';

/**
 * Changes one field of an account. Administrators cannot change their own role or status, so one always remains: if two
 * suspend each other at once, only one transaction succeeds.
 * @param by id of the administrator's account
 * @returns false if the account has this value already
 * @throws AccountChangeRefused
 */
export function changeAccount(
	{ database, audit }: Base,
	id: number,
	change: AccountChange,
	{ by, note }: { by: number; note: string }
): Promise<boolean> {
	return database.transact(async (trx) => {
		const [editor, account] = [await findById(trx, 'accounts', by), await findById(trx, 'accounts', id)];
		if (!editor || !isActiveAdmin(editor)) {
			throw new AccountChangeRefused('Your account is not an active administrator any more.');
		}
		if (!account || account.plan === 'portal')
			throw new AccountChangeRefused('This account cannot be changed.');
		const changed = { ...account, ...change };
		if (id === by && !isActiveAdmin(changed)) {
			throw new AccountChangeRefused(
				'You cannot suspend your own account or change its role. Ask another administrator.'
			);
		}
		const [[field = '', value] = []] = Object.entries(change);
		const before = new Map<string, unknown>(Object.entries(account)).get(field);
		if (before === value) return false;
		// A person with a role of their own is on nobody's staff.
		const all = 'role' in change ? { ...change, employer_id: null, staff_role: null } : change;
		await trx.updateTable('accounts').set(all).where('id', '=', id).execute();
		await audit.record(trx, {
			...{ actor: accountActor(by), action: actionOf(change), reason: note },
			before: { account_id: id, [field]: before },
			after: { account_id: id, [field]: value }
		});
		return true;
	});
}

function actionOf(change: AccountChange): string {
	if ('status' in change) return change.status === 'active' ? 'account.restored' : 'account.suspended';
	return 'role' in change ? 'account.role_changed' : 'account.plan_changed';
}
