import { error, type RequestEvent } from '@sveltejs/kit';
import type { Role } from '#lib/server/contract/scopes.ts';
import type { Account } from '../../accounts/accounts.ts';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { SIGN_IN_PATH, signedIn, type Visitor } from '../sign-in/sign-in.ts';

/** A person on the developer pages, which staff of an owner do not have. */
export interface Developer extends Visitor {
	account: Account & { role: Role };
}

/** Redirects to the sign-in page. Throws 403 for staff of an owner. */
export async function requireDeveloper(event: RequestEvent): Promise<Developer> {
	const { account, ...found } = await signedIn(event, SIGN_IN_PATH);
	const { role } = account;
	if (role !== 'staff') return { ...found, account: { ...account, role } };
	logSecurity(event, 'page refused', { account: account.id, reason: 'staff' });
	error(403, 'Staff of an owner have no API keys. Sign out here, and open the owner pages.');
}
