import type { Account } from '../accounts/accounts.ts';
import type { Auth } from './auth.ts';
import type { SignInContext } from './sign-in.ts';
import { deleteLinks } from './users.ts';

/** The author of a change and the reason, for the audit log. */
export interface Author {
	by: string;
	note: string;
}

/** better-auth writes its tables outside our transactions, so entries have their own. */
export const noteInvitation = (
	{ audit, database }: SignInContext,
	action: 'account.invited' | 'account.invitations_deleted',
	{ id }: Account,
	{ by, note }: Author
): Promise<void> =>
	database.transact((trx) =>
		audit.record(trx, { actor: by, action, reason: note, after: { account_id: id } })
	);

/** Returns whether the account has a password, and how many password links work. */
export async function passwordState({ clock }: SignInContext, auth: Auth, { email }: Account) {
	const { adapter, internalAdapter } = await auth.$context;
	const found = await internalAdapter.findUserByEmail(email);
	if (!found) return { hasPassword: false, links: 0 };
	const [credential, links] = await Promise.all([
		internalAdapter.findCredentialAccount(found.user.id),
		adapter.findMany<{ expiresAt: Date }>({
			model: 'verification',
			where: [{ field: 'value', value: found.user.id }]
		})
	]);
	return {
		hasPassword: Boolean(credential?.password),
		links: links.filter(({ expiresAt }) => expiresAt.getTime() > clock.now()).length
	};
}

/** Ends all password links of an account, also those that were mailed. */
export async function deleteInvitations(
	context: SignInContext,
	auth: Auth,
	account: Account,
	author: Author
): Promise<void> {
	const { internalAdapter } = await auth.$context;
	const found = await internalAdapter.findUserByEmail(account.email);
	if (!found) return;
	await deleteLinks(auth, found.user.id);
	await noteInvitation(context, 'account.invitations_deleted', account, author);
}
