import { formatDuration } from '#lib/domain/time.ts';
import { fail, type ActionFailure, type RequestEvent } from '@sveltejs/kit';
import { normaliseEmail } from '#lib/domain/email.ts';
import * as m from '#lib/i18n/messages.js';
import { networkOf } from '#lib/server/http/client-address.ts';
import { TURN_SECONDS } from '../../rate-limits.ts';
import type { Attempt } from '../../authentication/attempts.ts';
import { sha256 } from '../../platform/secrets.ts';

// better-auth's rate limiter does not see calls from the server, so attempts are counted here.

/** Forms per minute of a network, or of the account of a person who is signed in. */
const LIMITS = { 'sign-in': 20, 'sign-in-mail': 6 };
/** Mails per minute and address: the recipient may not have requested them. */
const MAILS = 2;
const MAX_SECONDS_SHOWN = 99;
/** Browsers keep a cookie for 400 days at most. */
const TOKEN_SECONDS = 400 * 24 * 60 * 60;

type Refusal<Entry> = ActionFailure<Entry & { problem: string }>;

/** Who is signed in is counted alone: strangers behind the same address block nobody. */
const subjectOf = (event: RequestEvent, action: keyof typeof LIMITS, accountId?: number) =>
	accountId === undefined
		? `${action}:address:${networkOf(event.locals.clientAddress())}`
		: `${action}:account:${accountId}`;

/** Returns the answer to a form of a signed-in person who tried too many codes, or null. */
export const tooManyCodes = <Entry extends object>(
	event: RequestEvent,
	accountId: number,
	entry: Entry
): Promise<Refusal<Entry> | null> =>
	take(event, subjectOf(event, 'sign-in', accountId), LIMITS['sign-in'], entry);

/**
 * Runs a sign-in within the limit of its network, which browsers that have signed in to the account before do not count
 * toward. Above it, strangers' tries run one after another, each some seconds after a wrong one: the right password still
 * signs in, and a guesser gets no further.
 * @param check of password or code; returns null if they are wrong
 */
export async function tryInTurn<Result, Entry extends object>(
	event: RequestEvent,
	{ email, step, entry }: { email: string; step?: Attempt['step']; entry: Entry },
	check: () => Promise<Result | null>
): Promise<{ found: Result | null } | { refused: Refusal<Entry> }> {
	const { rateLimits, signIn } = event.locals.app;
	const tried = async () => {
		const refused = await tooSoon(event, email, entry, step);
		return refused ? { refused } : { found: await check() };
	};
	const subject = subjectOf(event, 'sign-in');
	const isFree =
		signIn.attempts.isKnown(attemptOf(event, email, step)) ||
		(await rateLimits.take(subject, LIMITS['sign-in'])).admitted;
	if (isFree) return tried();
	const outcome = await rateLimits.inTurn(subject, async () => {
		const result = await tried();
		return { result, isRight: 'found' in result && result.found !== null };
	});
	return outcome ?? { refused: wait(event, TURN_SECONDS * 1000, entry) };
}

/**
 * Returns the answer to a form that was sent too often, or that would send too many mails to an address, or null.
 * @param accountId of a signed-in person
 */
export const tooManyMails = async (event: RequestEvent, email: string, accountId?: number) =>
	(await take(event, subjectOf(event, 'sign-in-mail', accountId), LIMITS['sign-in-mail'], { email })) ??
	take(event, `sign-in-mail:email:${sha256(normaliseEmail(email))}`, MAILS, { email });

async function take<Entry extends object>(event: RequestEvent, subject: string, limit: number, entry: Entry) {
	const { admitted, resetMs } = await event.locals.app.rateLimits.take(subject, limit);
	return admitted ? null : wait(event, resetMs, entry);
}

/** Returns a refusal while the wait lasts. Otherwise counts the attempt as failed for now, and returns null. */
export async function tooSoon<Entry extends object>(
	event: RequestEvent,
	email: string,
	entry: Entry,
	step?: Attempt['step']
): Promise<Refusal<Entry> | null> {
	const waitMs = await event.locals.app.signIn.attempts.begin(attemptOf(event, email, step));
	return waitMs === 0 ? null : wait(event, waitMs, entry);
}

/** The password was right, and the code is missing. */
export const takeAttemptBack = (event: RequestEvent, email: string): Promise<void> =>
	event.locals.app.signIn.attempts.takeBack(attemptOf(event, email));

/** Takes the count back. The browser is known from now on. */
export async function attemptSucceeded(event: RequestEvent, email: string, step?: Attempt['step']) {
	const token = await event.locals.app.signIn.attempts.succeeded(attemptOf(event, email, step));
	event.cookies.set(tokenCookie(event), token, {
		path: '/',
		httpOnly: true,
		sameSite: 'lax',
		secure: event.locals.origin.startsWith('https:'),
		maxAge: TOKEN_SECONDS
	});
}

const tokenCookie = ({ locals }: RequestEvent) =>
	`${locals.origin.startsWith('https:') ? '__Host-' : ''}airtill.known_browser`;

const attemptOf = (event: RequestEvent, email: string, step: Attempt['step'] = 'password'): Attempt => ({
	...{ email, step },
	network: networkOf(event.locals.clientAddress()),
	token: event.cookies.get(tokenCookie(event)) ?? null
});

function wait<Entry extends object>(event: RequestEvent, waitMs: number, entry: Entry): Refusal<Entry> {
	const seconds = Math.max(1, Math.ceil(waitMs / 1000));
	event.setHeaders({ 'retry-after': String(seconds) });
	const problem =
		seconds <= MAX_SECONDS_SHOWN
			? m.owner_sign_in_wait({ seconds: String(seconds) })
			: m.owner_sign_in_wait_minutes({ time: formatDuration(`${Math.ceil(seconds / 60)}m`) });
	return fail(429, { ...entry, problem });
}
