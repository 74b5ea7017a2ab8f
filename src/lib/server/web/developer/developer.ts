import { error, type RequestEvent } from '@sveltejs/kit';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { SIGN_IN_PATH, signedIn } from '../sign-in/sign-in.ts';

/**
 * Finds the person on the developer pages, which staff of an owner do not have. Redirects to the sign-in page.
 * Throws 403 for staff of an owner.
 */
export async function requireDeveloper(event: RequestEvent) {
	const { account, ...found } = await signedIn(event, SIGN_IN_PATH);
	const { role } = account;
	if (role !== 'staff') return { ...found, account: { ...account, role } };
	logSecurity(event, 'page refused', { account: account.id, reason: 'staff' });
	error(403, 'Staff of an owner have no API keys. Sign out here, and open the owner pages.');
}
