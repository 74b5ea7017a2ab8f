import { error, fail, redirect, type RequestEvent } from '@sveltejs/kit';
import { MAX_PASSWORD_CHARACTERS, MIN_PASSWORD_CHARACTERS } from '#lib/developer/password-rule.ts';
import { isEmail } from '#lib/domain/email.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { splitLanguage } from '#lib/i18n/path.ts';
import { type Account, findAccountByEmail } from '../../accounts/accounts.ts';
import { findGuessProblem } from '../../authentication/guessable.ts';
import {
	type Auth,
	LONGEST_SESSION_MS,
	deleteLinksOf,
	ensureDemoUser,
	findSignInAccount,
	openAuth
} from '../../authentication/sign-in.ts';
import { readFields } from '../form.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { MAX_BODY_BYTES } from '#lib/server/http/requests.ts';
import { attemptSucceeded, takeAttemptBack, tryInTurn } from './sign-in-limits.ts';
import { stopOwnerViews } from '../../owner/views.ts';

/**
 * Signing in and out, and what a page knows of who is signed in. Developers and administrators sign in under
 * /developer, owners and staff under /owner.
 */

export interface Visitor {
	userId: string;
	email: string;
	sessionId: string;
	account: Account;
	hasSecondFactor: boolean;
}

/** The pages that people sign in to. */
export type Area = keyof typeof AREAS;

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

/** An administrator sets up the second factor here. */
const SET_UP = { path: '/developer/account#second-factor', route: '/(area)/developer/account' };

export const authOf = ({ locals }: RequestEvent): Promise<Auth> =>
	openAuth(locals.app.signIn, locals.origin.startsWith('https:'));

export function visitor(event: RequestEvent): Promise<Visitor | null> {
	event.locals.visitor ??= findVisitor(event);
	return event.locals.visitor;
}

async function findVisitor(event: RequestEvent): Promise<Visitor | null> {
	// Without the cookie, better-auth is not loaded.
	if (!/airtill\.session_token\s*=/.test(event.request.headers.get('cookie') ?? '')) return null;
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
	const account = await findSignInAccount(event.locals.app.signIn, response.user);
	if (!account) return null;
	const { id: userId, email, twoFactorEnabled } = response.user;
	return {
		userId,
		email,
		sessionId: response.session.id,
		account,
		hasSecondFactor: twoFactorEnabled === true
	};
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

/** With real money, an administrator needs a second factor. */
export const needsSecondFactor = (
	{ locals }: RequestEvent,
	{ account, hasSecondFactor }: Pick<Visitor, 'account' | 'hasSecondFactor'>
): boolean => account.role === 'admin' && !hasSecondFactor && locals.app.config.mode === 'live';

/**
 * Leads to the sign-in page, which leads back here, after a form to `first`. Throws 401 with a form that is not empty, so
 * that it can be sent again. An administrator may have to set up the second factor.
 */
export async function signedIn(event: RequestEvent, signInPath: string, first?: string): Promise<Visitor> {
	const found = await visitor(event);
	if (found && needsSecondFactor(event, found) && event.route.id !== SET_UP.route) redirect(303, SET_UP.path);
	if (found) return found;
	const next =
		event.request.method === 'GET' ? splitLanguage(event.url.pathname).path + event.url.search : first;
	const path = next === undefined ? signInPath : `${signInPath}?next=${encodeURIComponent(next)}`;
	// The layout asks again.
	event.locals.unsentForm ??= unsentForm(event, path);
	const unsent = await event.locals.unsentForm;
	if (unsent) error(401, { message: m.owner_signed_out(), unsent });
	redirect(303, path);
}

/** Returns the page of the area that was asked for, or its first one. */
export function nextPath(area: Area, wanted: string | null): string {
	const { first, pages } = AREAS[area];
	return wanted !== null && pages.test(wanted) ? wanted : first;
}

/** Adds the language, which only the owner pages have. */
export const pathIn = (area: Area, path: string): string => (area === 'owner' ? link(path) : path);

/** Opens `next`, or before it the page that asks for the second factor. */
export function openNext(area: Area, next: string, { needsCode }: SignedIn): never {
	const path = needsCode ? `/${area}/sign-in/code?next=${encodeURIComponent(next)}` : next;
	redirect(303, pathIn(area, path));
}

/** Leads on who is signed in already. */
export async function loadSignInPage(event: RequestEvent, area: Area) {
	const next = nextPath(area, event.url.searchParams.get('next'));
	if (await visitor(event)) redirect(303, pathIn(area, next));
	return { next };
}

export async function answerSignIn(event: RequestEvent, area: Area) {
	const { field } = await readFields(event.request);
	const [email, password] = [field('email').trim(), field('password')];
	if (email === '' || password === '') return fail(400, { email, problem: m.owner_sign_in_missing() });
	const tried = await tryInTurn(event, { email, entry: { email } }, () =>
		signInByPassword(event, { email, password }, 'password')
	);
	if ('refused' in tried) {
		await logSignIn(event, 'sign-in refused', email, { by: 'password', reason: 'too soon' });
		return tried.refused;
	}
	const signedIn = tried.found;
	if (!signedIn) {
		await logSignIn(event, 'sign-in refused', email, { by: 'password', reason: 'wrong password' });
		return fail(400, { email, problem: m.owner_sign_in_wrong() });
	}
	openNext(area, nextPath(area, field('next')), signedIn);
}

interface SignedIn {
	/** The second factor is missing. */
	needsCode: boolean;
}

async function signInByPassword(
	event: RequestEvent,
	typed: { email: string; password: string },
	by: 'password' | 'link'
): Promise<SignedIn | null> {
	await ensureDemoUser(event.locals.app.signIn, typed);
	const body = { email: typed.email.trim(), password: typed.password };
	const answer = await accepted(event, ({ signInEmail }, headers) =>
		signInEmail({ body, headers, returnHeaders: true })
	);
	if (!answer) return null;
	if ('twoFactorRedirect' in answer.response) {
		await takeAttemptBack(event, body.email);
		return { needsCode: true };
	}
	await attemptSucceeded(event, body.email);
	await logSignIn(event, 'signed in', body.email, { by });
	return { needsCode: false };
}

export async function logSignIn(
	event: RequestEvent,
	what: 'signed in' | 'sign-in refused',
	email: string,
	details: { by: 'password' | 'link' | 'second factor'; reason?: string }
): Promise<void> {
	const { app } = event.locals;
	const account = isEmail(email) ? await findAccountByEmail(app, email) : null;
	logSecurity(event, what, { account: account?.id ?? null, ...details });
}

export async function newPasswordProblem(password: string, email: string): Promise<string | null> {
	if (password.length < MIN_PASSWORD_CHARACTERS) {
		return m.owner_password_short({ count: String(MIN_PASSWORD_CHARACTERS) });
	}
	if (password.length > MAX_PASSWORD_CHARACTERS) {
		return m.owner_password_long({ count: String(MAX_PASSWORD_CHARACTERS) });
	}
	const problem = await findGuessProblem(password, email);
	return problem && GUESSABLE[problem]();
}

const GUESSABLE = {
	repeats: m.owner_password_repeats,
	names: m.owner_password_names,
	common: m.owner_password_common
};

/** Ends all sign-in sessions and signs in. Returns null if the link is used or expired. */
export async function setPasswordByLink(
	event: RequestEvent,
	typed: { token: string; email: string; password: string }
): Promise<SignedIn | null> {
	const body = { token: typed.token, newPassword: typed.password };
	const answer = await accepted(event, ({ resetPassword }) => resetPassword({ body, returnHeaders: true }));
	return answer && signInByPassword(event, typed, 'link');
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
	await deleteLinksOf(event.locals.app.signIn, userId);
	return true;
}

/** @param next address that opens then */
export async function signOut(event: RequestEvent, next: string): Promise<never> {
	const found = await visitor(event);
	await accepted(event, ({ signOut: end }, headers) => end({ headers, returnHeaders: true }));
	if (found) {
		const { account, sessionId } = found;
		logSecurity(event, 'signed out', { account: account.id });
		await stopOwnerViews(event.locals.app, { adminId: account.id, signInSession: sessionId });
	}
	redirect(303, next);
}

export async function endOtherSessions(event: RequestEvent, { userId, sessionId, account }: Visitor) {
	const { internalAdapter } = await (await authOf(event)).$context;
	const others = (await internalAdapter.listSessions(userId)).filter(({ id }) => id !== sessionId);
	for (const { token } of others) await internalAdapter.deleteSession(token);
	if (others.length > 0) logSecurity(event, 'sign-in sessions ended', { account: account.id });
}

/** Copies better-auth's cookies to the response. Returns null if it refuses. */
export async function accepted<Answer extends { headers: Headers }>(
	event: RequestEvent,
	call: (api: Auth['api'], headers: Headers) => Promise<Answer>
): Promise<Answer | null> {
	const { api } = await authOf(event);
	try {
		const answer = await call(api, event.request.headers);
		await setCookies(event, answer.headers);
		return answer;
	} catch (error) {
		if (error instanceof Error && 'statusCode' in error && Number(error.statusCode) < 500) return null;
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

/** The entries of a form that was sent after the sign-in session had ended. */
export interface UnsentForm {
	fields: [name: string, value: string][];
	lacksFile: boolean;
	signInPath: string;
}

/** Fields of passwords, codes and keys, which no page sends back. */
const SECRETS = new Set(['password', 'current', 'wanted', 'code', 'uri', 'apiKey', 'newKey']);
const MAX_KEPT_FIELDS = 400;

/** Reads the body. Returns null without anything to keep, and for a form with a secret: sent again, it would lose it. */
async function unsentForm(
	{ request }: Pick<RequestEvent, 'request'>,
	signInPath: string
): Promise<UnsentForm | null> {
	const length = request.headers.get('content-length');
	if (request.method !== 'POST' || length === null || Number(length) > MAX_BODY_BYTES) return null;
	const form = await request.formData().catch(() => new FormData());
	const entries = [...form];
	const hasSecret = entries.some(([name, value]) => SECRETS.has(name) && value !== '');
	const fields = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
	if (hasSecret || fields.length === 0 || fields.length > MAX_KEPT_FIELDS) return null;
	const lacksFile = entries.some(([, value]) => typeof value !== 'string' && value.size > 0);
	return { fields, lacksFile, signInPath };
}
