import { jsonObject, member, textMember, type HttpOutcome } from '../http.ts';
import type { OperatorDependencies } from '../definition.ts';
import { createTokens, sendAuthorised, type AuthorisedOutcome, type FetchedToken } from '../tokens.ts';
import { hasCode, SIGNATURE_MISMATCH } from './answers.ts';
import { rsaKey, signatureHeaders } from './signing.ts';

export interface ConnectionSettings {
	baseUrl: string;
	country: string;
	currency: string;
	clientId: string;
	clientSecret: string;
	/** Message signing of requests with a body. */
	signs: boolean;
}

/** Requests to Airtel with token, market and signature. `refused` and `unavailable`: the request was not sent. */
export interface Connection {
	get(path: string): Promise<AuthorisedOutcome>;
	post(path: string, body: object): Promise<AuthorisedOutcome & { keyMayBeOld?: boolean }>;
	/** Fetches a token and, if needed, the signing key. @returns a description of the problem, or null */
	check(): Promise<string | null>;
}

/** Used if the response names none. Documented for most markets; others live longer. */
const TOKEN_SECONDS = 180;
/** The key's end (`valid_upto`) has no time zone, so the key is fetched again instead. */
const KEY_SECONDS = 600;

type Answer = Extract<HttpOutcome, { kind: 'answer' }>;

/** Airtel's gateway has no separate code for it. */
const isTokenRefusal = ({ status }: Answer) => status === 401;

export function createConnection(
	settings: ConnectionSettings,
	{ http, clock }: Pick<OperatorDependencies, 'http' | 'clock'>
): Connection {
	const { baseUrl, country, currency } = settings;
	const tokens = createTokens(clock, fetchToken);
	const keys = createTokens(clock, fetchKey);
	/** A key with which a request was accepted. */
	let provenKey: string | null = null;

	const headers = (token: string) => ({
		accept: '*/*',
		authorization: `Bearer ${token}`,
		'x-country': country,
		'x-currency': currency
	});

	async function fetchToken(): Promise<FetchedToken> {
		const outcome = await http.send({
			method: 'POST',
			url: `${baseUrl}/auth/oauth2/token`,
			headers: { accept: '*/*', 'content-type': 'application/json' },
			body: JSON.stringify({
				client_id: settings.clientId,
				client_secret: settings.clientSecret,
				grant_type: 'client_credentials'
			})
		});
		const answer = notFetched(outcome);
		if (answer.kind !== 'answer') return answer;
		const body = jsonObject(answer.text);
		const value = textMember(body, 'access_token');
		if (!value) return { kind: 'unavailable', cause: 'the answer has no token in it' };
		const seconds = Number(textMember(body, 'expires_in') ?? NaN);
		return { kind: 'token', value, expiresInSeconds: Number.isFinite(seconds) ? seconds : TOKEN_SECONDS };
	}

	async function fetchKey(): Promise<FetchedToken> {
		const sent = await get('/v1/rsa/encryption-keys');
		if (sent.kind === 'refused' || sent.kind === 'unavailable') return sent;
		const answer = notFetched(sent);
		if (answer.kind !== 'answer') return answer;
		const value = textMember(member(jsonObject(answer.text), 'data'), 'key');
		if (value === null || !isKey(value))
			return { kind: 'unavailable', cause: 'the answer has no signing key in it' };
		return { kind: 'token', value, expiresInSeconds: KEY_SECONDS };
	}

	const get = (path: string) =>
		sendAuthorised(
			tokens,
			(token) => http.send({ method: 'GET', url: baseUrl + path, headers: headers(token) }),
			isTokenRefusal
		);

	return {
		get,
		async post(path, payload) {
			const body = JSON.stringify(payload);
			const key = settings.signs ? await keys.get() : null;
			if (key && key.kind !== 'token') return key;
			const signature = key ? signatureHeaders(body, key.value) : {};
			const sent = await sendAuthorised(
				tokens,
				(token) =>
					http.send({
						method: 'POST',
						url: baseUrl + path,
						headers: { ...headers(token), 'content-type': 'application/json', ...signature },
						body
					}),
				isTokenRefusal
			);
			if (!key || sent.kind !== 'answer') return sent;
			if (!hasCode(sent, SIGNATURE_MISMATCH)) {
				if (sent.status < 300) provenKey = key.value;
				return sent;
			}
			keys.drop(key.value);
			const keyMayBeOld = provenKey === key.value;
			// If the next key is the same, its age is not the problem.
			provenKey = null;
			return { ...sent, keyMayBeOld };
		},
		async check() {
			const token = await tokens.get();
			if (token.kind === 'unavailable') return `Airtel is not reachable: ${token.cause}.`;
			if (token.kind === 'refused') {
				return token.status === 404 || token.status === 405
					? `AIRTEL_BASE_URL: there is no Airtel API (HTTP ${token.status}).`
					: `AIRTEL_CLIENT_ID, AIRTEL_CLIENT_SECRET: Airtel does not take them (HTTP ${token.status} ${token.text}).`;
			}
			if (!settings.signs) return null;
			const key = await keys.get();
			if (key.kind === 'token') return null;
			const cause = key.kind === 'refused' ? `HTTP ${key.status} ${key.text}` : key.cause;
			return `AIRTEL_MESSAGE_SIGNING: Airtel gives no signing key: ${cause}.`;
		}
	};
}

/** The response, or the reason why there is none. Such texts never contain our credentials. */
function notFetched(
	outcome: HttpOutcome
): (Answer & { kind: 'answer' }) | Extract<FetchedToken, { kind: 'refused' | 'unavailable' }> {
	if (outcome.kind === 'failure') return { kind: 'unavailable', cause: outcome.cause };
	const { status, text } = outcome;
	if (status >= 200 && status < 300) return outcome;
	const isPassing = status >= 500 || status === 408 || status === 429 || status < 400;
	if (isPassing) return { kind: 'unavailable', cause: `HTTP ${status}` };
	const body = jsonObject(text);
	const said = textMember(body, 'error') ?? textMember(member(body, 'status'), 'message') ?? '';
	return { kind: 'refused', status, text: said.slice(0, 100) };
}

function isKey(value: string): boolean {
	try {
		return rsaKey(value).asymmetricKeyType === 'rsa';
	} catch {
		return false;
	}
}
