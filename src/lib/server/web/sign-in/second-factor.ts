import { fail, redirect, type RequestEvent } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { PENDING } from '../../developer/sign-in/sign-in.ts';
import { qrCode } from '../../portal/wifi-qr-svg.ts';
import { readFields } from '../form.ts';
import { logSecurity } from '../security-log.ts';
import { attemptSucceeded, tooOften, tooSoon } from './sign-in-limits.ts';
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

/** Marks the results of the forms below, for pages with other forms. */
const HERE = { isFactor: true } as const;
const KEY_URI = /^otpauth:\/\/totp\/[^?]{1,800}\?secret=([A-Z2-7]{16,128})&[\w=&%.-]{1,300}$/;

/** Reads the form with the `password`. Returns a new key for the person's app, which works when it is confirmed. */
export async function startSecondFactor(event: RequestEvent, person: Visitor) {
	const { field } = await readFields(event.request);
	const refused = await tooSoon(event, person.email, HERE);
	if (refused) return refused;
	const body = { password: field('password') };
	const answer = await accepted(event, ({ enableTwoFactor }, headers) =>
		enableTwoFactor({ body, headers, returnHeaders: true })
	);
	if (!answer) return fail(400, { ...HERE, problem: m.owner_password_wrong() });
	await attemptSucceeded(event, person.email);
	return { ...HERE, ...keyOf('totpURI' in answer.response ? answer.response.totpURI : '') };
}

/** Reads the form with the `uri` of the key and its `code`. Returns the recovery codes, once. */
export async function confirmSecondFactor(event: RequestEvent, person: Visitor) {
	const { field } = await readFields(event.request);
	const body = { code: field('code').replace(/\s/g, '') };
	const answer = person.hasSecondFactor
		? null
		: await accepted(event, ({ verifyTOTP }, headers) => verifyTOTP({ body, headers, returnHeaders: true }));
	if (!answer) {
		return fail(400, { ...HERE, ...keyOf(field('uri')), problem: m.owner_factor_wrong() });
	}
	logSecurity(event, 'second factor added', { account: person.account.id });
	event.locals.visitor = Promise.resolve({ ...person, hasSecondFactor: true });
	const { api } = await authOf(event);
	const { backupCodes } = await api.viewBackupCodes({ body: { userId: person.userId } });
	return { ...HERE, codes: backupCodes };
}

/** Reads the form with the `password`. Returns null if the second factor is removed. */
export async function stopSecondFactor(event: RequestEvent, person: Visitor) {
	const { field } = await readFields(event.request);
	const refused = await tooSoon(event, person.email, HERE);
	if (refused) return refused;
	const body = { password: field('password') };
	const answer = await accepted(event, ({ disableTwoFactor }, headers) =>
		disableTwoFactor({ body, headers, returnHeaders: true })
	);
	if (!answer) return fail(400, { ...HERE, problem: m.owner_password_wrong() });
	await attemptSucceeded(event, person.email);
	logSecurity(event, 'second factor removed', { account: person.account.id });
	return null;
}

/** The secret in groups, to type into an app. Null for an address that is not of a key. */
function keyOf(uri: string) {
	const secret = KEY_URI.exec(uri)?.[1];
	return { key: secret ? { uri, secret: secret.replace(/.{4}(?=.)/g, '$& '), qr: qrCode(uri) } : null };
}

/** Redirects to the sign-in page unless a person has typed the password. */
export async function loadCodePage(event: RequestEvent, area: Area) {
	if ((await waitingEmail(event)) === null) redirect(303, pathIn(area, `/${area}/sign-in`));
	return { next: nextPath(area, event.url.searchParams.get('next')) };
}

/** Reads the form with the `code`, from the app or a recovery code. */
export async function answerCode(event: RequestEvent, area: Area) {
	const { field } = await readFields(event.request);
	const email = await waitingEmail(event);
	if (email === null) redirect(303, pathIn(area, `/${area}/sign-in`));
	const refused = (await tooOften(event, 'sign-in', {})) ?? (await tooSoon(event, email, {}));
	if (refused) {
		await logSignIn(event, 'sign-in refused', email, { by: 'second factor', reason: 'too soon' });
		return refused;
	}
	const code = field('code').replace(/\s/g, '');
	const answer = await accepted(event, ({ verifyTOTP, verifyBackupCode }, headers) =>
		(/^\d{6}$/.test(code) ? verifyTOTP : verifyBackupCode)({ body: { code }, headers, returnHeaders: true })
	);
	if (!answer) {
		await logSignIn(event, 'sign-in refused', email, { by: 'second factor', reason: 'wrong code' });
		return fail(400, { problem: m.owner_factor_wrong() });
	}
	await attemptSucceeded(event, email);
	await logSignIn(event, 'signed in', email, { by: 'second factor' });
	redirect(303, pathIn(area, nextPath(area, field('next'))));
}

/**
 * Returns the address of the person who has typed the password; null without one. better-auth would check the code of a
 * signed-in person instead.
 */
async function waitingEmail(event: RequestEvent): Promise<string | null> {
	if (await visitor(event)) return null;
	const { createAuthCookie, internalAdapter } = await (await authOf(event)).$context;
	const [identifier = ''] = (event.cookies.get(createAuthCookie('two_factor').name) ?? '').split('.');
	if (!identifier.startsWith(PENDING)) return null;
	const found = await internalAdapter.findVerificationValue(identifier);
	if (!found || found.expiresAt.getTime() <= event.locals.app.clock.now()) return null;
	return (await internalAdapter.findUserById(found.value))?.email ?? null;
}
