import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpClient, HttpOutcome, HttpRequest } from '#lib/server/platform/http-client.ts';
import { httpText, jsonObject, member, textMember } from './response.ts';

export type TokenOutcome = { kind: 'token'; value: string; expiresInSeconds: number } | NoToken;

type NoToken =
	/** The operator refused the credentials. */
	| { kind: 'refused'; status: number; text: string }
	/** No token was available; the credentials may be right. */
	| { kind: 'unavailable'; cause: string };

export type OperatorResponse = Extract<HttpOutcome, { kind: 'response' }>;
/** `refused` and `unavailable` are about the token: the request was not sent. */
export type AuthorisedOutcome = HttpOutcome | NoToken;

/** Renews tokens this long before expiry, or a fifth of their life if that is shorter (some live 180 s). */
const MARGIN_MS = 60_000;
const MARGIN_SHARE = 0.2;

/** Caches a token. Callers share one request: with some operators a new token ends the previous one. */
export function createTokens(clock: Clock, fetch: () => Promise<TokenOutcome>) {
	let held: { token: Exclude<TokenOutcome, NoToken>; until: number } | null = null;
	let fetching: Promise<TokenOutcome> | null = null;

	async function renew(): Promise<TokenOutcome> {
		const from = clock.now();
		const token = await fetch();
		if (token.kind === 'token') {
			const life = token.expiresInSeconds * 1000;
			held = { token, until: from + life - Math.min(MARGIN_MS, life * MARGIN_SHARE) };
		}
		return token;
	}

	return {
		async get(): Promise<TokenOutcome> {
			if (held && clock.now() < held.until) return held.token;
			return (fetching ??= renew().finally(() => (fetching = null)));
		},
		/** Drops a refused token unless it was replaced. */
		drop(value: string) {
			if (held?.token.value === value) held = null;
		}
	};
}

/** Returns the response, or why there is none. The text never contains our credentials. */
export function tokenResponse(outcome: AuthorisedOutcome): OperatorResponse | NoToken {
	if (outcome.kind === 'failure') return { kind: 'unavailable', cause: outcome.cause };
	if (outcome.kind !== 'response') return outcome;
	const { status, text } = outcome;
	if (status === 200) return outcome;
	if (status !== 400 && status !== 401 && status !== 403)
		return { kind: 'unavailable', cause: `HTTP ${status}` };
	const body = jsonObject(text);
	const names = ['error', 'errorMessage', 'message'];
	const reason = names.map((name) => textMember(body, name)).find((one) => one !== null);
	return {
		kind: 'refused',
		status,
		text: (reason ?? textMember(member(body, 'status'), 'message') ?? '').slice(0, 100)
	};
}

async function fetchToken({ http, tokenRequest, usualTokenSeconds }: ClientOptions): Promise<TokenOutcome> {
	const answer = tokenResponse(await http.send(tokenRequest));
	if (answer.kind !== 'response') return answer;
	const body = jsonObject(answer.text);
	const value = textMember(body, 'access_token');
	if (!value) return { kind: 'unavailable', cause: 'the response has no token' };
	const seconds = Number(textMember(body, 'expires_in'));
	return { kind: 'token', value, expiresInSeconds: seconds > 0 ? seconds : usualTokenSeconds };
}

interface ClientOptions {
	http: HttpClient;
	clock: Clock;
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
	const tokens = createTokens(clock, () => fetchToken(options));

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
		return `${baseUrl} refuses ${keys} (${httpText(token.status, token.text)}).`;
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
