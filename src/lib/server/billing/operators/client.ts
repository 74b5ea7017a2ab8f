import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpClient, HttpOutcome, HttpRequest } from '#lib/server/platform/http-client.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import type { Base } from '../../base.ts';
import type { CallbackHint, FailureReason, StatusOutcome, SubmitOutcome } from './operator.ts';

/**
 * What the adapters of operators share: a client that renews its token, tolerant readers of bodies, and the outcomes
 * of what an HTTP response means.
 *
 * With M-Pesa a new token ends the one before (FAQ of Daraja's portal), so the processes of an installation, and its
 * commands, share tokens in the database, and one at a time asks for a new one.
 */

export type OperatorResponse = Extract<HttpOutcome, { kind: 'response' }>;
/** `refused` and `unavailable` are about the token: the request was not sent. */
export type AuthorisedOutcome = HttpOutcome | NoToken;

/** Returns the response, or why there is none. The text never contains our credentials. */
export function tokenResponse(outcome: AuthorisedOutcome): OperatorResponse | NoToken {
	if (outcome.kind === 'failure') return { kind: 'unavailable', cause: outcome.cause };
	if (outcome.kind !== 'response') return outcome;
	const { status, text } = outcome;
	if (status === 200) return outcome;
	if (status !== 400 && status !== 401 && status !== 403)
		return { kind: 'unavailable', cause: `HTTP ${status}` };
	const body = parseObject(text);
	const names = ['error', 'errorMessage', 'message'];
	const reason = names.map((name) => readText(body, name)).find((one) => one !== null);
	return {
		kind: 'refused',
		status,
		text: (reason ?? readText(member(body, 'status'), 'message') ?? '').slice(0, 100)
	};
}

async function fetchToken({ http, tokenRequest, usualTokenSeconds }: ClientOptions): Promise<TokenOutcome> {
	const answer = tokenResponse(await http.send(tokenRequest));
	if (answer.kind !== 'response') return answer;
	const body = parseObject(answer.text);
	const value = readText(body, 'access_token');
	if (!value) return { kind: 'unavailable', cause: 'the response has no token' };
	const seconds = Number(readText(body, 'expires_in'));
	return { kind: 'token', value, expiresInSeconds: seconds > 0 ? seconds : usualTokenSeconds };
}

interface ClientOptions {
	http: HttpClient;
	clock: Clock;
	/** Of all processes; null: this one has its own. */
	tokens: SharedTokens | null;
	baseUrl: string;
	headers: Record<string, string>;
	tokenRequest: HttpRequest;
	/** Used if the response names none. */
	usualTokenSeconds: number;
	/** True if the operator ignored the request because of its token. Default: HTTP 401. */
	isTokenRefusal?(answer: OperatorResponse): boolean;
}

export type Client = ReturnType<typeof createClient>;

export function createClient(options: ClientOptions) {
	const { http, clock, baseUrl, headers, isTokenRefusal = ({ status }) => status === 401 } = options;
	const name = sha256(JSON.stringify(options.tokenRequest));
	const shared = options.tokens && { tokens: options.tokens, name };
	const tokens = createTokens(clock, () => fetchToken(options), shared);

	/** Sends once more only after a refused token: the operator did nothing then. */
	async function send(request: HttpRequest): Promise<AuthorisedOutcome> {
		for (let attempt = 1; ; attempt += 1) {
			const token = await tokens.get();
			if (token.kind !== 'token') return token;
			const authorization = `Bearer ${token.value}`;
			const outcome = await http.send({
				...request,
				headers: { ...headers, ...request.headers, authorization }
			});
			if (outcome.kind !== 'response' || !isTokenRefusal(outcome)) return outcome;
			tokens.drop(token.value);
			if (attempt === 2) return outcome;
		}
	}

	/** Says why there is no token; null if there is one. @param keys settings that a refusal is about */
	async function tokenProblem(keys: string): Promise<string | null> {
		const token = await tokens.get();
		if (token.kind === 'token') return null;
		if (token.kind === 'unavailable') return `${baseUrl} gives no token: ${token.cause}.`;
		return `${baseUrl} refuses ${keys} (${formatHttp(token.status, token.text)}).`;
	}

	return {
		tokenProblem,
		get: (path: string) => send({ method: 'GET', url: baseUrl + path, headers: {} }),
		post: (path: string, body: object, more: Record<string, string> = {}) =>
			send({
				method: 'POST',
				url: baseUrl + path,
				headers: { 'content-type': 'application/json', ...more },
				body: JSON.stringify(body)
			})
	};
}

export type TokenOutcome = { kind: 'token'; value: string; expiresInSeconds: number } | NoToken;

type NoToken =
	/** The operator refused the credentials. */
	| { kind: 'refused'; status: number; text: string }
	/** No token was available; the credentials may be right. */
	| { kind: 'unavailable'; cause: string };

type UsableToken = Pick<Extract<TokenOutcome, { kind: 'token' }>, 'kind' | 'value'>;

interface HeldToken {
	value: string;
	/** When to renew it. */
	until: number;
}

/** Renews tokens this long before expiry, or a fifth of their life if that is shorter (some live 180 s). */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;
/** After it the next process asks, too: the one before may have died. */
const CLAIM_MS = 10_000;
/** A claim, and the answer to the next one. A payment waits meanwhile. */
const WAIT_MS = 15_000;
const LOOK_AGAIN_MS = 200;
/** Before the first token. */
const NONE = { token_sealed: '', valid_until: 0 };

export type SharedTokens = ReturnType<typeof createSharedTokens>;

/** The tokens of all processes. A name stands for an operator and the credentials of a token. */
export function createSharedTokens({ database: { db }, clock, secrets, log }: Base) {
	const seal = (name: string) => `operator token:${name}`;
	/** The process has a token of its own then. */
	const warn = (error: unknown) => log.warn({ err: error }, 'the token of an operator is not shared');

	/** Returns null for a token of another secret. */
	function open(sealed: string, name: string): string | null {
		return secrets.keyIndex(sealed, seal(name)) < 0 ? null : secrets.decrypt(sealed, seal(name));
	}

	const find = (name: string) =>
		db
			.selectFrom('operator_tokens')
			.select(['token_sealed', 'valid_until'])
			.where('name', '=', name)
			.executeTakeFirst();

	/** Returns true for one of those who found the same token and claim within ten seconds. */
	async function claim(name: string, found: string): Promise<boolean> {
		const now = clock.now();
		const claimed_until = now + CLAIM_MS;
		const claimed = await db
			.insertInto('operator_tokens')
			.values({ name, claimed_until })
			.onConflict((conflict) =>
				conflict
					.column('name')
					.doUpdateSet({ claimed_until })
					.where('operator_tokens.token_sealed', '=', found)
					// One that is still later is of a process whose clock was far ahead.
					.where(({ not, between }) =>
						not(between('operator_tokens.claimed_until', now, claimed_until + CLAIM_MS))
					)
			)
			.returning('name')
			.executeTakeFirst();
		return claimed !== undefined;
	}

	async function findOrClaim(name: string, ended: string | null): Promise<HeldToken | null> {
		const since = performance.now();
		for (;;) {
			const { token_sealed: found, valid_until: until } = (await find(name)) ?? NONE;
			const value = clock.now() < until ? open(found, name) : null;
			if (value !== null && value !== ended) return { value, until };
			if ((await claim(name, found)) || performance.now() - since > WAIT_MS) return null;
			await sleep(LOOK_AGAIN_MS);
		}
	}

	async function keep(name: string, token: HeldToken | null): Promise<void> {
		const kept = token && {
			token_sealed: secrets.encrypt(token.value, seal(name)),
			valid_until: token.until
		};
		await db
			.updateTable('operator_tokens')
			.set({ claimed_until: 0, ...kept })
			.where('name', '=', name)
			.execute();
	}

	return {
		/**
		 * Waits for another process that asks.
		 * @returns its token, unless it is `ended`; null if this process asks, or cannot find out
		 */
		findOrClaim: (name: string, ended: string | null) =>
			findOrClaim(name, ended).catch((error: unknown) => {
				warn(error);
				return null;
			}),
		/** @param token null if there was none */
		keep: (name: string, token: HeldToken | null) => keep(name, token).catch(warn)
	};
}

/**
 * Caches a token. Callers share one request.
 * @param shared where processes share it under a name; null for none. Without its database each asks for itself
 */
export function createTokens(
	clock: Clock,
	ask: () => Promise<TokenOutcome>,
	shared: { tokens: SharedTokens; name: string } | null = null
) {
	let held: HeldToken | null = null;
	let ended: string | null = null;
	let renewing: Promise<UsableToken | NoToken> | null = null;

	async function renew(): Promise<UsableToken | NoToken> {
		held = (await shared?.tokens.findOrClaim(shared.name, ended)) ?? null;
		if (held) return { kind: 'token', value: held.value };
		const from = clock.now();
		const token = await ask();
		if (token.kind === 'token') {
			const life = token.expiresInSeconds * 1000;
			held = { value: token.value, until: from + life - Math.min(MARGIN_MS, life * MARGIN_SHARE) };
		}
		await shared?.tokens.keep(shared.name, held);
		return token;
	}

	return {
		async get(): Promise<UsableToken | NoToken> {
			if (held && clock.now() < held.until) return { kind: 'token', value: held.value };
			return (renewing ??= renew().finally(() => (renewing = null)));
		},
		/** Drops a refused token unless it was replaced. */
		drop(value: string) {
			if (held?.value !== value) return;
			ended = value;
			held = null;
		}
	};
}

/**
 * Reads the bodies of operators: responses and callbacks alike. Proxies between them and us rewrite bodies, so what is in one
 * counts, not its content type: JSON with anything around it (byte order marks, NUL, line ends, a second copy), JSON in a form
 * or in a string, or the fields of a form. Returns null for the rest.
 */
export function parseJson(text: string): unknown {
	// JSON has none of these in a string, and may have blanks around it.
	const plain = text.replace(CONTROLS, ' ').trim();
	const whole = parsed(plain);
	if (whole !== undefined) return typeof whole === 'string' ? parseJson(whole) : whole;
	// HTML may hold anything.
	if (plain.startsWith('<')) return null;
	const inside = firstObject(plain);
	return (inside === null ? parseForm(plain) : parsed(inside)) ?? null;
}

export function parseObject(text: string): Record<string, unknown> | null {
	const value = parseJson(text);
	const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
	return isObject(one) ? one : null;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** C0 and the byte order mark. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\ufeff]/g;

function parsed(text: string): unknown {
	try {
		return JSON.parse(text, exact);
	} catch {
		return undefined;
	}
}

/** Keeps the digits of an id of 64 bits, which a number would round. */
const exact = (_name: string, value: unknown, context?: { source?: string }): unknown =>
	typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
		? context?.source
		: value;

/** Strings, of which the last may have no end, and brackets. */
const STRINGS_AND_BRACKETS = /"[^"\\]*(?:\\.[^"\\]*)*(?:"|$)|[[\]{}]/g;

/** Returns the text of the first object or list, whatever is around it; null if none is whole. */
function firstObject(text: string): string | null {
	const start = text.search(/[[{]/);
	let depth = 0;
	for (const { 0: sign, index } of text.slice(Math.max(0, start)).matchAll(STRINGS_AND_BRACKETS)) {
		if (sign === '{' || sign === '[') depth += 1;
		else if (sign === '}' || sign === ']') depth -= 1;
		if (depth === 0) return text.slice(start, start + index + 1);
	}
	return null;
}

/** The fields of a form, with those of an object that it holds as a value or as a name. */
function parseForm(text: string): Record<string, unknown> | null {
	if (!/^[^\s={}<>]*(=|%7B)/i.test(text)) return null;
	const fields = [...new URLSearchParams(text)];
	const held = fields.flat().map(parsed).find(isObject);
	return { ...held, ...Object.fromEntries(fields.map(([name, value]) => [name, parsed(value) ?? value])) };
}

export function member(object: unknown, name: string): Record<string, unknown> {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns a text or a number as text, without blanks around it; null if there is none. */
export function readText(object: unknown, name: string): string | null {
	const value = (object as Record<string, unknown> | null | undefined)?.[name];
	if (typeof value === 'number') return String(value);
	return typeof value === 'string' ? value.replaceAll('\0', '').trim() || null : null;
}

/**
 * True for a refusal as HTML, which no operator writes: a proxy does, and it says nothing about what the operator did.
 * Access is refused before (401, 403).
 */
export const isForeignRefusal = ({ status, text }: { status: number; text: string }): boolean =>
	[400, 404, 405, 415].includes(status) && text.trimStart().startsWith('<');

export const formatHttp = (status: number, text: string): string => `HTTP ${status} ${text}`.trim();

/** Returns the seconds of Retry-After, at most an hour; null for other forms. */
export function readRetryAfter(headers: Record<string, string>): number | null {
	const seconds = Number(headers['retry-after'] ?? NaN);
	return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3_600) : null;
}

/** Keeps unaccented letters, digits and ` .,-`, because operators refuse other signs; `refused` matches more. */
export const simplifyText = (text: string, length: number, refused = /[^A-Za-z0-9 .,-]+/g): string =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.replace(refused, ' ')
		.replace(/ +/g, ' ')
		.trim()
		.slice(0, length)
		.trim();

type Refused = Extract<SubmitOutcome, { kind: 'refused' }>;

export const refused = (reason: FailureReason, message: string, raw = message): Refused => ({
	kind: 'refused',
	reason,
	message,
	retryable: false,
	raw
});

/** A temporary refusal: the same request may be sent again. */
export const busy = (message: string, raw = message, retryAfterSeconds = 0): Refused => ({
	kind: 'refused',
	reason: 'provider_unavailable',
	message,
	retryable: true,
	retryAfterSeconds,
	raw
});

export const unavailable = (cause: string, retryAfterSeconds: number | null = null): StatusOutcome => ({
	kind: 'unavailable',
	cause,
	retryAfterSeconds
});

export const lookUpReason = (
	reasons: Readonly<Record<string, FailureReason>>,
	code: string | null,
	otherwise: FailureReason
): FailureReason => (Object.hasOwn(reasons, code ?? '') ? reasons[code ?? ''] : undefined) ?? otherwise;

/** Nothing was sent. */
export const CROWDED = 'too many requests wait for the operator';
/** The operator may have recovered, and a callback may be why it is asked: not the pause of an old payment. */
export const CROWDED_MS = 5_000;

export const isCrowded = (outcome: StatusOutcome): boolean =>
	outcome.kind === 'unavailable' && outcome.cause === CROWDED;

type Unanswered = Exclude<AuthorisedOutcome, { kind: 'response' }>;

/** Converts the outcome of a payment or refund request without a response. */
export function unanswered(name: string, outcome: Unanswered): SubmitOutcome {
	if (outcome.kind === 'refused') {
		const raw = formatHttp(outcome.status, outcome.text);
		return refused('merchant_error', `${name} refuses the credentials (${raw})`, raw);
	}
	if (outcome.kind === 'unavailable') return busy(`${name} gives no token: ${outcome.cause}`, outcome.cause);
	const { cause, sent } = outcome;
	if (!sent) return busy(`${name} cannot be reached: ${cause}`, cause);
	return { kind: 'uncertain', raw: cause };
}

export const formatCause = (outcome: Unanswered): string =>
	outcome.kind === 'refused'
		? `credentials refused (${formatHttp(outcome.status, outcome.text)})`
		: outcome.cause;

/** Converts a response that is no success, by its HTTP status. @param reason of a refusal */
export function unaccepted(
	answer: OperatorResponse,
	reason: FailureReason,
	message: string,
	raw: string
): SubmitOutcome {
	const { status } = answer;
	if (status === 429) return busy(message, raw, readRetryAfter(answer.headers) ?? 0);
	if ([400, 401, 403, 404, 405, 415].includes(status) && !isForeignRefusal(answer)) {
		return refused(reason, message, raw);
	}
	return { kind: 'uncertain', raw };
}

export const NO_HINT: CallbackHint = {
	...{ claimed: 'unknown', authentic: 'absent', reference: null, operatorReference: null },
	...{ providerReference: null, amountMinor: null, currency: null }
};
