import { isLocalRequest } from '#lib/server/http/client-address.ts';
import { DEMO_EMAILS } from '#lib/server/accounts/accounts.ts';
import { findDemoKeys } from '#lib/server/demo/demo.ts';
import { visitor } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestEvent } from '@sveltejs/kit';
import type { RequestHandler } from './$types';

/** GET /docs/api/keys: the demo keys of the API page, or null. */
export const GET: RequestHandler = async (event) =>
	Response.json(await findConsoleKeys(event), { headers: { 'cache-control': 'no-store' } });

/**
 * Only for who may know the keys anyway: a browser on the machine that printed them, and people who are signed in to a
 * demo account. Everybody else gets null and enters a key.
 */
async function findConsoleKeys(event: RequestEvent) {
	const keys = findDemoKeys(event.locals.app);
	if (keys === null || isLocalRequest(event.request.headers, event.locals.clientAddress())) return keys;
	return DEMO_EMAILS.includes((await visitor(event))?.email ?? '') ? keys : null;
}
