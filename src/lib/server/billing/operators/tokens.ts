import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpOutcome } from './http.ts';

/**
 * Caches the access token of one credential. Concurrent callers share one request, because with some operators a new
 * token ends the previous one. The token is renewed before it expires.
 */
export interface Tokens {
	get(): Promise<TokenOutcome>;
	/** Drops a token that the operator refused, unless it was replaced. */
	drop(value: string): void;
}

export type TokenOutcome =
	| { kind: 'token'; value: string }
	/** The operator refused the credentials. */
	| { kind: 'refused'; status: number; text: string }
	/** No token was available; the credentials may be right. */
	| { kind: 'unavailable'; cause: string };

export type FetchedToken = (TokenOutcome & { kind: 'refused' | 'unavailable' }) | Fetched;

interface Fetched {
	kind: 'token';
	value: string;
	expiresInSeconds: number;
}

/** Time before expiry at which it is renewed, or a fifth of its life if that is shorter (some live 180 s). */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;

export function createTokens(clock: Clock, fetchToken: () => Promise<FetchedToken>): Tokens {
	let held: { value: string; until: number } | null = null;
	let fetching: Promise<TokenOutcome> | null = null;

	async function renew(): Promise<TokenOutcome> {
		const from = clock.now();
		const fetched = await fetchToken();
		if (fetched.kind !== 'token') return fetched;
		const life = fetched.expiresInSeconds * 1000;
		held = { value: fetched.value, until: from + life - Math.min(MARGIN_MS, life * MARGIN_SHARE) };
		return { kind: 'token', value: fetched.value };
	}

	return {
		async get() {
			const now = clock.now();
			if (held && now < held.until) return { kind: 'token', value: held.value };
			fetching ??= renew().finally(() => (fetching = null));
			return fetching;
		},
		drop(value) {
			if (held?.value === value) held = null;
		}
	};
}

export type AuthorisedOutcome = HttpOutcome | Exclude<TokenOutcome, { kind: 'token' }>;

/**
 * Sends a request with the token, and once more with a new token if the operator calls it invalid (it did nothing
 * then). `refused` and `unavailable` are about the token: the request was not sent.
 */
export async function sendAuthorised(
	tokens: Tokens,
	send: (token: string) => Promise<HttpOutcome>,
	isTokenRefusal: (answer: Extract<HttpOutcome, { kind: 'answer' }>) => boolean
): Promise<AuthorisedOutcome> {
	for (let attempt = 1; ; attempt += 1) {
		const token = await tokens.get();
		if (token.kind !== 'token') return token;
		const outcome = await send(token.value);
		if (outcome.kind !== 'answer' || !isTokenRefusal(outcome)) return outcome;
		tokens.drop(token.value);
		if (attempt === 2) return outcome;
	}
}
