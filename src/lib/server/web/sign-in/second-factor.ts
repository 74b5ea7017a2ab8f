import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { PENDING, readTypedCode, type Auth } from '../../authentication/sign-in.ts';
import { sha256 } from '../../platform/secrets.ts';
import { qrSvg } from '../../portal/qr-svg.ts';
import { readFields } from '../form.ts';
import { logSecurity } from '#lib/server/http/client-address.ts';
import { attemptSucceeded, tooManyCodes, tooSoon, tryInTurn } from './sign-in-limits.ts';
import {
	accepted,
	authOf,
	logSignIn,
	nextPath,
	pathIn,
	visitor,
	type Area,
	type Visitor
} from './sign-in.ts';

/**
 * The second factor of a sign-in: setting it up with an app, its recovery codes, and the page that asks for the code.
 */

/** Marks the results of the forms below, for pages with other forms. */
const HERE = { isFactor: true } as const;
/** A period of the app, and one before and after it. */
const CODE_LIFETIME_MS = 3 * 30_000;
const KEY_URI = /^otpauth:\/\/totp\/[^?]{1,800}\?secret=([A-Z2-7]{16,128})&[\w=&%.-]{1,300}$/;

/** Reads the form with the `password`. Returns a new key for the person's app, which works when it is confirmed. */
export async function startSecondFactor(event: RequestEvent, person: Visitor) {
	const { answer, refused } = await withPassword(event, person, ({ enableTwoFactor }, body, headers) =>
		enableTwoFactor({ body, headers, returnHeaders: true })
	);
	if (!answer) return refused;
	return { ...HERE, ...keyOf('totpURI' in answer.response ? answer.response.totpURI : '') };
}

/** Checks the password of the person who is signed in, before a change that a thief must not make. Returns why it is refused. */
export const confirmPassword = async (event: RequestEvent, person: Visitor, password: string) => {
	const { refused } = await withPassword(
		event,
		person,
		({ verifyPassword }, body, headers) => verifyPassword({ body, headers, returnHeaders: true }),
		password
	);
	return refused?.data.problem ?? null;
};

/** Makes a call of better-auth that checks a password, by default that of the form. Returns its answer, or why it is refused. */
async function withPassword<Answer extends { headers: Headers }>(
	event: RequestEvent,
	{ email, account }: Visitor,
	call: (api: Auth['api'], body: { password: string }, headers: Headers) => Promise<Answer>,
	given?: string
) {
	const password = given ?? (await readFields(event.request)).field('password');
	const tooEarly = await tooSoon(event, email, HERE);
	if (tooEarly) return { answer: null, refused: tooEarly };
	const answer = await accepted(event, (api, headers) => call(api, { password }, headers));
	if (answer) {
		await attemptSucceeded(event, email);
		return { answer, refused: null };
	}
	logSecurity(event, 'sign-in refused', { account: account.id, by: 'password', reason: 'wrong password' });
	return { answer, refused: fail(400, { ...HERE, problem: m.owner_password_wrong() }) };
}

/**
 * Reads the form with the `uri` of the key and its `code`. Ends the other sign-in sessions, which have given no code.
 * Returns the recovery codes, once.
 */
export async function confirmSecondFactor(event: RequestEvent, person: Visitor) {
	const { field } = await readFields(event.request);
	const refused = await tooManyCodes(event, person.account.id, HERE);
	if (refused) return refused;
	const { api, $context } = await authOf(event);
	const { adapter, createAuthCookie } = await $context;
	const { name } = createAuthCookie('session_token');
	const body = { code: readTypedCode(field('code')) };
	const headers = onlyCookie(event, name);
	const answer = person.hasSecondFactor
		? null
		: await accepted(event, ({ verifyTOTP }) => verifyTOTP({ body, headers, returnHeaders: true }));
	if (!answer) {
		return fail(400, { ...HERE, ...keyOf(field('uri')), problem: m.owner_factor_wrong() });
	}
	logSecurity(event, 'second factor added', { account: person.account.id });
	event.locals.visitor = Promise.resolve({ ...person, hasSecondFactor: true });
	// better-auth has begun a new one.
	const [token = ''] = (event.cookies.get(name) ?? '').split('.');
	const others = [
		{ field: 'userId', value: person.userId },
		{ field: 'token', operator: 'ne', value: token }
	] as const;
	await adapter.deleteMany({ model: 'session', where: [...others] });
	const { backupCodes } = await api.viewBackupCodes({ body: { userId: person.userId } });
	return { ...HERE, codes: backupCodes };
}

/** Reads the form with the `password`. Returns null if the second factor is removed. */
export async function stopSecondFactor(event: RequestEvent, person: Visitor) {
	const { answer, refused } = await withPassword(event, person, ({ disableTwoFactor }, body, headers) =>
		disableTwoFactor({ body, headers, returnHeaders: true })
	);
	if (!answer) return refused;
	logSecurity(event, 'second factor removed', { account: person.account.id });
	return null;
}

/** The secret in groups, to type into an app. Null for an address that is not of a key. */
function keyOf(uri: string) {
	const secret = KEY_URI.exec(uri)?.[1];
	return { key: secret ? { uri, secret: secret.replace(/.{4}(?=.)/g, '$& '), qr: qrSvg(uri) } : null };
}

/** Redirects to the sign-in page unless a person has typed the password. */
export async function loadCodePage(event: RequestEvent, area: Area) {
	if ((await waiting(event)) === null) redirect(303, pathIn(area, `/${area}/sign-in`));
	return { next: nextPath(area, event.url.searchParams.get('next')) };
}

/** Reads the form with the `code`, from the app or a recovery code. */
export async function answerCode(event: RequestEvent, area: Area) {
	const { field } = await readFields(event.request);
	const found = await waiting(event);
	if (found === null) redirect(303, pathIn(area, `/${area}/sign-in`));
	const { email, headers } = found;
	const code = readTypedCode(field('code'));
	const tried = await tryInTurn(event, { email, step: 'code', entry: {} }, async () => {
		// A code of the app works once (RFC 6238, 5.2).
		const subject = `second-factor:${sha256(`${email}:${code}`)}`;
		const { admitted } = await event.locals.app.rateLimits.take(subject, 1, CODE_LIFETIME_MS);
		if (!admitted) return null;
		return accepted(event, ({ verifyTOTP, verifyBackupCode }) =>
			(/^\d{6}$/.test(code) ? verifyTOTP : verifyBackupCode)({ body: { code }, headers, returnHeaders: true })
		);
	});
	if ('refused' in tried) {
		await logSignIn(event, 'sign-in refused', email, { by: 'second factor', reason: 'too soon' });
		return tried.refused;
	}
	const answer = tried.found;
	if (!answer) {
		await logSignIn(event, 'sign-in refused', email, { by: 'second factor', reason: 'wrong code' });
		return fail(400, { problem: m.owner_factor_wrong() });
	}
	await attemptSucceeded(event, email, 'code');
	await logSignIn(event, 'signed in', email, { by: 'second factor' });
	redirect(303, pathIn(area, nextPath(area, field('next'))));
}

/**
 * Returns the address of the person who has typed the password, with headers that name nobody else: better-auth would
 * check the code of a signed-in person instead.
 */
async function waiting(event: RequestEvent): Promise<{ email: string; headers: Headers } | null> {
	if (await visitor(event)) return null;
	const { createAuthCookie, internalAdapter } = await (await authOf(event)).$context;
	const { name } = createAuthCookie('two_factor');
	const [identifier = ''] = (event.cookies.get(name) ?? '').split('.');
	if (!identifier.startsWith(PENDING)) return null;
	const found = await internalAdapter.findVerificationValue(identifier);
	if (!found || found.expiresAt.getTime() <= event.locals.app.clock.now()) return null;
	const user = await internalAdapter.findUserById(found.value);
	if (!user) return null;
	return { email: user.email, headers: onlyCookie(event, name) };
}

function onlyCookie({ request, cookies }: RequestEvent, name: string): Headers {
	const headers = new Headers(request.headers);
	headers.set('cookie', `${name}=${encodeURIComponent(cookies.get(name) ?? '')}`);
	return headers;
}
