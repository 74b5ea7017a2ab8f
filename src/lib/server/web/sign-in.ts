import { redirect, type RequestEvent } from '@sveltejs/kit';
import type { Account } from '../developer/accounts/accounts.ts';
import { sha256 } from '../platform/secrets.ts';
import type { Auth } from '../developer/sign-in/sign-in.ts';
import { networkOf } from '../api/http/limits.ts';

// better-auth's own rate limiter does not see calls from the server, so attempts are counted here.

export interface Visitor {
	userId: string;
	email: string;
	sessionId: string;
	account: Account;
}

export const SIGN_IN_PATH = '/developer/sign-in';
export const FIRST_PATH = '/developer/keys';

/** Attempts per minute from one IP address (IPv6: /64) and for one e-mail address. */
const MAX_TRIES = { address: 20, email: 6 };
/** E-mails per minute: the recipient may not have asked for them. */
const MAX_MAILS = { address: 6, email: 2 };
const MAX_PASSKEY_CALLS = 60;

const authOf = ({ locals }: RequestEvent): Promise<Auth> => locals.app.signIn.auth(locals.origin);

/** Returns the signed-in person or null; reads the session once per request. */
export function visitor(event: RequestEvent): Promise<Visitor | null> {
	event.locals.visitor ??= findVisitor(event);
	return event.locals.visitor;
}

async function findVisitor(event: RequestEvent): Promise<Visitor | null> {
	// Without the cookie there is no need to load better-auth.
	if (!/airtill\.session_token=/.test(event.request.headers.get('cookie') ?? '')) return null;
	const auth = await authOf(event);
	const { response, headers } = await auth.api.getSession({
		headers: event.request.headers,
		returnHeaders: true
	});
	await setCookies(event, headers);
	if (!response) return null;
	const account = await event.locals.app.signIn.accountOf(response.user);
	if (!account) return null;
	return { userId: response.user.id, email: response.user.email, sessionId: response.session.id, account };
}

/** Returns the signed-in person, or redirects to the sign-in page, which leads back here. */
export async function requireVisitor(event: RequestEvent): Promise<Visitor> {
	const found = await visitor(event);
	if (found) return found;
	const back = event.request.method === 'GET' ? `?next=${encodeURIComponent(event.url.pathname)}` : '';
	redirect(303, `${SIGN_IN_PATH}${back}`);
}

/** Accepts a path of the developer area as the page after the sign-in; otherwise the first page. */
export const nextPath = (wanted: string | null): string =>
	wanted !== null && /^\/developer(\/[\w-]+)+$/.test(wanted) ? wanted : FIRST_PATH;

/** Signs in by e-mail and password. Returns false if one of them is wrong. */
export async function signInByPassword(
	event: RequestEvent,
	typed: { email: string; password: string }
): Promise<boolean> {
	await event.locals.app.signIn.ensureDemoUser(typed, event.locals.origin);
	const body = { email: typed.email.trim(), password: typed.password };
	return accepted(event, ({ signInEmail }, headers) => signInEmail({ body, headers, returnHeaders: true }));
}

/** Sets the password through a link, ends all sign-in sessions and signs in. Returns false if the link is used or expired. */
export async function setPasswordByLink(
	event: RequestEvent,
	link: { token: string; email: string; password: string }
): Promise<boolean> {
	const body = { token: link.token, newPassword: link.password };
	const isSet = await accepted(event, ({ resetPassword }) => resetPassword({ body, returnHeaders: true }));
	return isSet && signInByPassword(event, link);
}

/** Changes the password and ends the other sign-in sessions. Returns false if the current password is wrong. */
export async function changePassword(
	event: RequestEvent,
	passwords: { current: string; wanted: string }
): Promise<boolean> {
	const body = {
		currentPassword: passwords.current,
		newPassword: passwords.wanted,
		revokeOtherSessions: true
	};
	return accepted(event, ({ changePassword: change }, headers) =>
		change({ body, headers, returnHeaders: true })
	);
}

export const signOut = (event: RequestEvent): Promise<boolean> =>
	accepted(event, ({ signOut: end }, headers) => end({ headers, returnHeaders: true }));

/** Lists the sign-in sessions without their tokens, most recently used first. */
export async function listSessions(event: RequestEvent, { userId, sessionId }: Visitor) {
	const { internalAdapter } = await (await authOf(event)).$context;
	const sessions = await internalAdapter.listSessions(userId, { onlyActiveSessions: true });
	return sessions
		.map((session) => ({
			id: session.id,
			isThis: session.id === sessionId,
			userAgent: session.userAgent ?? '',
			startedAt: session.createdAt.getTime(),
			lastActiveAt: session.updatedAt.getTime()
		}))
		.sort((a, b) => b.lastActiveAt - a.lastActiveAt);
}

/** Ends one sign-in session, or all but this one. Returns the number of ended sessions. */
export async function endSessions(
	event: RequestEvent,
	{ userId, sessionId }: Visitor,
	which: { id: string } | 'others'
): Promise<number> {
	const { internalAdapter } = await (await authOf(event)).$context;
	const ended = (await internalAdapter.listSessions(userId)).filter(({ id }) =>
		which === 'others' ? id !== sessionId : id === which.id
	);
	for (const { token } of ended) await internalAdapter.deleteSession(token);
	return ended.length;
}

export async function listPasskeys(event: RequestEvent) {
	const passkeys = await (await authOf(event)).api.listPasskeys({ headers: event.request.headers });
	return passkeys.map(({ id, name, createdAt }) => ({
		id,
		name: name ?? 'Passkey',
		madeAt: createdAt ? new Date(createdAt).getTime() : null
	}));
}

/** Removes a passkey. Returns false if the visitor does not have it. */
export const removePasskey = (event: RequestEvent, id: string): Promise<boolean> =>
	accepted(event, ({ deletePasskey }, headers) =>
		deletePasskey({ body: { id }, headers, returnHeaders: true })
	);

/** The only calls of better-auth that are reachable from outside. */
const PASSKEY_CALLS: Readonly<Record<string, readonly string[]>> = {
	GET: ['generate-register-options', 'generate-authenticate-options'],
	POST: ['verify-registration', 'verify-authentication']
};

/** Answers the passkey script of our pages. */
export async function answerPasskeyCall(event: RequestEvent, call: string): Promise<Response> {
	const { request, locals } = event;
	if (!PASSKEY_CALLS[request.method]?.includes(call)) return Response.json({}, { status: 404 });
	const site = request.headers.get('sec-fetch-site');
	const foreign =
		(site !== null && site !== 'same-origin') ||
		(request.method === 'POST' && request.headers.get('origin') !== locals.origin);
	if (foreign) return Response.json({}, { status: 403 });
	const decision = await locals.app.rateLimits.take(`passkey:${networkOf(event)}`, MAX_PASSKEY_CALLS);
	if (!decision.admitted) return Response.json({}, { status: 429 });
	return (await authOf(event)).handler(request);
}

/** Counts a sign-in attempt. Returns the seconds to wait, or null if it is allowed. */
export const waitToTry = (event: RequestEvent, email: string) => waitFor(event, 'sign-in', email, MAX_TRIES);

/** Counts an e-mail. Returns the seconds to wait, or null if it is allowed. */
export const waitToMail = (event: RequestEvent, email: string) =>
	waitFor(event, 'sign-in-mail', email, MAX_MAILS);

async function waitFor(
	event: RequestEvent,
	action: string,
	email: string,
	limits: { address: number; email: number }
): Promise<number | null> {
	const { rateLimits } = event.locals.app;
	for (const [subject, limit] of [
		[`${action}:address:${networkOf(event)}`, limits.address],
		[`${action}:email:${sha256(email.trim().toLowerCase())}`, limits.email]
	] as const) {
		const { admitted, resetMs } = await rateLimits.take(subject, limit);
		if (!admitted) return Math.max(1, Math.ceil(resetMs / 1000));
	}
	return null;
}

/** Calls better-auth and copies its cookies to the response. Returns false if it refuses. */
async function accepted(
	event: RequestEvent,
	call: (api: Auth['api'], headers: Headers) => Promise<{ headers: Headers }>
): Promise<boolean> {
	const { api } = await authOf(event);
	try {
		await setCookies(event, (await call(api, event.request.headers)).headers);
		return true;
	} catch (error) {
		if (error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500) return false;
		throw error;
	}
}

/** Copies better-auth's cookies to SvelteKit's response. */
async function setCookies(event: RequestEvent, headers: Headers): Promise<void> {
	const lines = headers.getSetCookie();
	if (lines.length === 0) return;
	const { parseSetCookieHeader, toCookieOptions } = await import('better-auth/cookies');
	for (const line of lines) {
		for (const [name, cookie] of parseSetCookieHeader(line)) {
			event.cookies.set(name, cookie.value, { ...toCookieOptions(cookie), path: cookie.path ?? '/' });
		}
	}
}
