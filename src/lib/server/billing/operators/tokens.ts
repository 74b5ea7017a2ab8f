import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpOutcome } from './http.ts';

/**
 * The access token of one credential, shared by everything that uses it: asked for once however many need it at the
 * same time (with some operators each new token ends the one before), and renewed before it ends.
 */
export interface Tokens {
	get(): Promise<TokenOutcome>;
	/** Forgets a token that the operator refused; another one that was fetched meanwhile stays. */
	drop(value: string): void;
}

export type TokenOutcome =
	| { kind: 'token'; value: string }
	/** The operator does not take the credentials. */
	| { kind: 'refused'; status: number; text: string }
	/** No token now; says nothing about the credentials. */
	| { kind: 'unavailable'; cause: string };

export type FetchedToken = (TokenOutcome & { kind: 'refused' | 'unavailable' }) | Fetched;

interface Fetched {
	kind: 'token';
	value: string;
	expiresInSeconds: number;
}

/** Renewed this long before its end, or a fifth of its life when that is shorter (some live 180 seconds). */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;

export function createTokens(clock: Clock, fetchToken: () => Promise<FetchedToken>): Tokens {
	let held: { value: string; from: number; until: number } | null = null;
	let fetching: Promise<TokenOutcome> | null = null;

	async function renew(): Promise<TokenOutcome> {
		const from = clock.now();
		const fetched = await fetchToken();
		if (fetched.kind !== 'token') return fetched;
		const life = fetched.expiresInSeconds * 1000;
		held = { value: fetched.value, from, until: from + life - Math.min(MARGIN_MS, life * MARGIN_SHARE) };
		return { kind: 'token', value: fetched.value };
	}

	return {
		async get() {
			const now = clock.now();
			// A clock that was set back would keep an old token for too long.
			if (held && now >= held.from && now < held.until) return { kind: 'token', value: held.value };
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
 * Sends a request with the token, once more with a new one when the operator says that the token is not valid (it
 * has then done nothing). `refused` and `unavailable` speak of the token: the request itself was not sent.
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
