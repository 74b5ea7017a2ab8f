import { fail, redirect, type ActionFailure, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import type { Account } from '../developer/accounts/accounts.ts';
import { sha256 } from '../platform/secrets.ts';
import type { Auth } from '../developer/sign-in/sign-in.ts';
import { networkOf } from '../api/http/limits.ts';
import { readFields } from './form.ts';

// better-auth's own rate limiter does not see calls from the server, so attempts are counted here.

export interface Visitor {
	userId: string;
	email: string;
	sessionId: string;
	account: Account;
}

export const SIGN_IN_PATH = '/developer/sign-in';
export const FIRST_PATH = '/developer/keys';

/** Per minute, from one IP address (IPv6: /64) and for one e-mail address. */
const LIMITS = {
	'sign-in': { address: 20, email: 6 },
	/** The recipient may not have asked for the e-mail. */
	'sign-in-mail': { address: 6, email: 2 }
};
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

/** Data that all pages behind a sign-in show. */
export const areaData = ({ locals: { app } }: RequestEvent, { email, account }: Visitor) => ({
	email,
	suspended: account.status === 'suspended',
	timeZone: app.config.reportTimezone,
	now: app.clock.now()
});

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

/** Handles a sign-in form: redirects to `pageOf(next)`, or shows the form again. */
export async function answerSignIn(event: RequestEvent, pageOf: (next: string) => string) {
	const { field } = await readFields(event.request);
	const [email, password] = [field('email').trim(), field('password')];
	if (email === '' || password === '') return fail(400, { email, problem: m.owner_sign_in_missing() });
	const refused = await tooOften(event, 'sign-in', email, { email });
	if (refused) return refused;
	if (!(await signInByPassword(event, { email, password }))) {
		return fail(400, { email, problem: m.owner_sign_in_wrong() });
	}
	redirect(303, pageOf(field('next')));
}

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
		createdAt: createdAt ? new Date(createdAt).getTime() : null
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

/** Counts an attempt. Returns the answer to a form that was sent too often, or null if it is allowed. */
export async function tooOften<Entry extends object>(
	event: RequestEvent,
	action: keyof typeof LIMITS,
	email: string,
	entry: Entry
): Promise<ActionFailure<Entry & { problem: string }> | null> {
	for (const [subject, limit] of [
		[`${action}:address:${networkOf(event)}`, LIMITS[action].address],
		[`${action}:email:${sha256(email.trim().toLowerCase())}`, LIMITS[action].email]
	] as const) {
		const { admitted, resetMs } = await event.locals.app.rateLimits.take(subject, limit);
		if (admitted) continue;
		const seconds = String(Math.max(1, Math.ceil(resetMs / 1000)));
		event.setHeaders({ 'retry-after': seconds });
		return fail(429, { ...entry, problem: m.owner_sign_in_wait({ seconds }) });
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
