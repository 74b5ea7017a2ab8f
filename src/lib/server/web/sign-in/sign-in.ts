import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '#lib/developer/password-rule.ts';
import { isEmail } from '#lib/domain/email.ts';
import * as m from '#lib/i18n/messages.js';
import { splitLanguage } from '#lib/i18n/path.ts';
import type { Account } from '../../developer/accounts/accounts.ts';
import { guessProblem } from '../../developer/sign-in/guessable.ts';
import { LONGEST_SESSION_MS, type Auth } from '../../developer/sign-in/sign-in.ts';
import { networkOf } from '../../api/http/request-limits.ts';
import { readFields } from '../form.ts';
import { logSecurity } from '../security-log.ts';
import { attemptSucceeded, tooOften, tooSoon } from './sign-in-limits.ts';

export interface Visitor {
	userId: string;
	email: string;
	sessionId: string;
	account: Account;
}

export const SIGN_IN_PATH = '/developer/sign-in';
export const FIRST_PATH = '/developer/keys';
const AREAS = {
	developer: {
		first: FIRST_PATH,
		/** Administrators sign in there too. */
		pages: /^\/(developer(\/[\w-]+)+|admin(\/[\w-]+)*)(\?[\w=&%.+-]*)?$/
	},
	owner: { first: '/owner', pages: /^\/owner(\/[\w-]+)*(\?[\w=&-]*)?$/ }
};

const MAX_PASSKEY_CALLS = 60;

const authOf = ({ locals }: RequestEvent): Promise<Auth> => locals.app.signIn.auth(locals.origin);

/** Reads the session once per request. */
export function visitor(event: RequestEvent): Promise<Visitor | null> {
	event.locals.visitor ??= findVisitor(event);
	return event.locals.visitor;
}

async function findVisitor(event: RequestEvent): Promise<Visitor | null> {
	// Without the cookie, better-auth is not loaded.
	if (!/airtill\.session_token=/.test(event.request.headers.get('cookie') ?? '')) return null;
	const auth = await authOf(event);
	const { response, headers } = await auth.api.getSession({
		headers: event.request.headers,
		returnHeaders: true
	});
	if (response && isOver(event, response.session)) {
		await (await auth.$context).internalAdapter.deleteSession(response.session.token);
		return null;
	}
	await setCookies(event, headers);
	if (!response) return null;
	const account = await event.locals.app.signIn.accountOf(response.user);
	if (!account) return null;
	return { userId: response.user.id, email: response.user.email, sessionId: response.session.id, account };
}

const isOver = ({ locals }: RequestEvent, { createdAt }: { createdAt: Date }): boolean =>
	createdAt.getTime() + LONGEST_SESSION_MS <= locals.app.clock.now();

export const areaData = ({ locals: { app } }: RequestEvent, { email, account }: Visitor) => ({
	email,
	suspended: account.status === 'suspended',
	administers: account.role === 'admin',
	timeZone: app.config.reportTimezone,
	now: app.clock.now()
});

/** The sign-in page leads back here, after a form to `first`. */
export async function signedIn(event: RequestEvent, signInPath: string, first?: string): Promise<Visitor> {
	const found = await visitor(event);
	if (found) return found;
	const { path } = splitLanguage(event.url.pathname);
	const next = event.request.method === 'GET' ? path + event.url.search : first;
	redirect(303, next === undefined ? signInPath : `${signInPath}?next=${encodeURIComponent(next)}`);
}

/** Returns the page of the area that was asked for, or its first one. */
export function nextPath(area: keyof typeof AREAS, wanted: string | null): string {
	const { first, pages } = AREAS[area];
	return wanted !== null && pages.test(wanted) ? wanted : first;
}

export async function answerSignIn(event: RequestEvent, pageOf: (next: string) => string) {
	const { field } = await readFields(event.request);
	const [email, password] = [field('email').trim(), field('password')];
	if (email === '' || password === '') return fail(400, { email, problem: m.owner_sign_in_missing() });
	const refused = (await tooOften(event, 'sign-in', { email })) ?? (await tooSoon(event, email, { email }));
	if (refused) {
		await logSignIn(event, 'sign-in refused', email, { by: 'password', reason: 'too soon' });
		return refused;
	}
	if (!(await signInByPassword(event, { email, password }, 'password'))) {
		await logSignIn(event, 'sign-in refused', email, { by: 'password', reason: 'wrong password' });
		return fail(400, { email, problem: m.owner_sign_in_wrong() });
	}
	redirect(303, pageOf(field('next')));
}

async function signInByPassword(
	event: RequestEvent,
	typed: { email: string; password: string },
	by: 'password' | 'link'
): Promise<boolean> {
	await event.locals.app.signIn.ensureDemoUser(typed, event.locals.origin);
	const body = { email: typed.email.trim(), password: typed.password };
	const isSignedIn = await accepted(event, ({ signInEmail }, headers) =>
		signInEmail({ body, headers, returnHeaders: true })
	);
	if (!isSignedIn) return false;
	await attemptSucceeded(event, body.email);
	await logSignIn(event, 'signed in', body.email, { by });
	return true;
}

async function logSignIn(
	event: RequestEvent,
	what: 'signed in' | 'sign-in refused',
	email: string,
	details: { by: 'password' | 'link'; reason?: string }
): Promise<void> {
	const { accounts } = event.locals.app;
	const account = isEmail(email) ? await accounts.findByEmail(email) : null;
	logSecurity(event, what, { account: account?.id ?? null, ...details });
}

/** Returns why the password cannot be chosen, or null. */
export async function newPasswordProblem(password: string, email: string): Promise<string | null> {
	if (password.length < MIN_PASSWORD_CHARACTERS) {
		return m.owner_password_short({ count: String(MIN_PASSWORD_CHARACTERS) });
	}
	if (password.length > MAX_PASSWORD_CHARACTERS) {
		return m.owner_password_long({ count: String(MAX_PASSWORD_CHARACTERS) });
	}
	switch (await guessProblem(password, email)) {
		case 'repeats':
			return m.owner_password_repeats();
		case 'names':
			return m.owner_password_names();
		case 'common':
			return m.owner_password_common();
		case null:
			return null;
	}
}

/** Ends all sign-in sessions and signs in. Returns false if the link is used or expired. */
export async function setPasswordByLink(
	event: RequestEvent,
	link: { token: string; email: string; password: string }
): Promise<boolean> {
	const body = { token: link.token, newPassword: link.password };
	const isSet = await accepted(event, ({ resetPassword }) => resetPassword({ body, returnHeaders: true }));
	return isSet && signInByPassword(event, link, 'link');
}

/** Ends the other sign-in sessions and unused links. Returns false if the current password is wrong. */
export async function changePassword(
	event: RequestEvent,
	{ userId, email, account }: Visitor,
	passwords: { current: string; wanted: string }
): Promise<boolean> {
	const body = {
		currentPassword: passwords.current,
		newPassword: passwords.wanted,
		revokeOtherSessions: true
	};
	const isChanged = await accepted(event, ({ changePassword: change }, headers) =>
		change({ body, headers, returnHeaders: true })
	);
	if (!isChanged) {
		const refused = { account: account.id, by: 'password', reason: 'wrong current password' } as const;
		logSecurity(event, 'sign-in refused', refused);
		return false;
	}
	logSecurity(event, 'password changed', { account: account.id });
	await attemptSucceeded(event, email);
	await event.locals.app.signIn.deleteLinks(userId, event.locals.origin);
	return true;
}

export async function signOut(event: RequestEvent): Promise<void> {
	const found = await visitor(event);
	await accepted(event, ({ signOut: end }, headers) => end({ headers, returnHeaders: true }));
	if (!found) return;
	const { account, sessionId } = found;
	logSecurity(event, 'signed out', { account: account.id });
	await event.locals.app.ownerViews.stop({ adminId: account.id, signInSession: sessionId });
}

/** Omits the tokens. Most recently used first. */
export async function listSessions(event: RequestEvent, { userId, sessionId }: Visitor) {
	const { internalAdapter } = await (await authOf(event)).$context;
	const sessions = await internalAdapter.listSessions(userId, { onlyActiveSessions: true });
	return sessions
		.filter((session) => !isOver(event, session))
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
	{ userId, sessionId, account }: Visitor,
	which: { id: string } | 'others'
): Promise<number> {
	const { internalAdapter } = await (await authOf(event)).$context;
	const ended = (await internalAdapter.listSessions(userId)).filter(({ id }) =>
		which === 'others' ? id !== sessionId : id === which.id
	);
	for (const { token } of ended) await internalAdapter.deleteSession(token);
	if (ended.length > 0) logSecurity(event, 'sign-in sessions ended', { account: account.id });
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

export async function removePasskey(event: RequestEvent, { account }: Visitor, id: string): Promise<boolean> {
	const isRemoved = await accepted(event, ({ deletePasskey }, headers) =>
		deletePasskey({ body: { id }, headers, returnHeaders: true })
	);
	if (isRemoved) logSecurity(event, 'passkey removed', { account: account.id });
	return isRemoved;
}

/** The only calls of better-auth that clients can reach. */
const PASSKEY_CALLS: Readonly<Record<string, readonly string[]>> = {
	GET: ['generate-register-options', 'generate-authenticate-options'],
	POST: ['verify-registration', 'verify-authentication']
};

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
	// The account page of staff lists no passkeys, so nobody could see or remove one.
	const isNew = call.endsWith('registration') || call === 'generate-register-options';
	if (isNew && (await visitor(event))?.account.role === 'staff') return Response.json({}, { status: 403 });
	const response = await (await authOf(event)).handler(request);
	await logPasskeyCall(event, call, response);
	return response;
}

async function logPasskeyCall(event: RequestEvent, call: string, response: Response): Promise<void> {
	if (!call.startsWith('verify-')) return;
	if (!response.ok) return logSecurity(event, 'sign-in refused', { by: 'passkey' });
	if (call === 'verify-registration') {
		const found = await visitor(event);
		return logSecurity(event, 'passkey added', { account: found?.account.id ?? null });
	}
	const { user } = (await response.clone().json()) as { user?: { accountId?: number | null } };
	logSecurity(event, 'signed in', { account: user?.accountId ?? null, by: 'passkey' });
}

/** Copies better-auth's cookies to the response. Returns false if it refuses. */
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
