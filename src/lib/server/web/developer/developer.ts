import { error, type RequestEvent } from '@sveltejs/kit';
import { logSecurity } from '#lib/server/http/security-log.ts';
import { isLocalRequest } from '#lib/server/http/client-address.ts';
import { DEMO_EMAILS } from '../../accounts/demo-accounts.ts';
import { demoConsoleKeys } from '../../demo/demo.ts';
import { SIGN_IN_PATH, signedIn, visitor } from '../sign-in/sign-in.ts';

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

/**
 * The demo keys, for the API page. Only for who may know them anyway: a browser on the machine that printed them, and
 * people who are signed in to a demo account. Everybody else gets null and enters a key.
 */
export async function consoleKeys(event: RequestEvent) {
	const keys = demoConsoleKeys(event.locals.app);
	if (keys === null || isLocalRequest(event.request.headers, event.locals.clientAddress())) return keys;
	return DEMO_EMAILS.includes((await visitor(event))?.email ?? '') ? keys : null;
}
