import type { OperatorDependencies } from '../definition.ts';
import { jsonObject, textMember } from '../http.ts';
import { createTokens, sendAuthorised, type AuthorisedOutcome, type FetchedToken } from '../tokens.ts';
import { isTokenRefusal } from './results.ts';
import type { MpesaValues } from './values.ts';

/** Client for Daraja's gateway with its access token. */
export interface Daraja {
	/** Sends one POST, and once more only if the token was refused and nothing was done. */
	post(path: string, body: object): Promise<AuthorisedOutcome>;
	health(): Promise<{ ok: boolean; reason: string | null }>;
}

/** From the operator's page; used if the response has none. */
const TOKEN_SECONDS = 3_599;

export function createDaraja(values: MpesaValues, { http, clock }: OperatorDependencies): Daraja {
	const base = values.MPESA_BASE_URL;
	const pair = `${values.MPESA_CONSUMER_KEY}:${values.MPESA_CONSUMER_SECRET}`;
	// Each new token ends the previous one, so all requests share one.
	const tokens = createTokens(clock, fetchToken);

	async function fetchToken(): Promise<FetchedToken> {
		const outcome = await http.send({
			method: 'GET',
			url: `${base}/oauth/v1/generate?grant_type=client_credentials`,
			headers: {
				authorization: `Basic ${Buffer.from(pair).toString('base64')}`,
				accept: 'application/json'
			}
		});
		if (outcome.kind === 'failure') return { kind: 'unavailable', cause: outcome.cause };
		const { status, text } = outcome;
		const body = jsonObject(text);
		const value = textMember(body, 'access_token');
		if (status === 200 && value) {
			// A string in practice, a number in the operator's documentation.
			const seconds = Number(textMember(body, 'expires_in') ?? NaN);
			return { kind: 'token', value, expiresInSeconds: seconds > 0 ? seconds : TOKEN_SECONDS };
		}
		if (status === 400 || status === 401 || status === 403) {
			const said = textMember(body, 'errorMessage') ?? '';
			return { kind: 'refused', status, text: said };
		}
		return { kind: 'unavailable', cause: `HTTP ${status}` };
	}

	return {
		post: (path, body) =>
			sendAuthorised(
				tokens,
				(token) =>
					http.send({
						method: 'POST',
						url: base + path,
						headers: {
							authorization: `Bearer ${token}`,
							'content-type': 'application/json',
							accept: 'application/json'
						},
						body: JSON.stringify(body)
					}),
				isTokenRefusal
			),
		async health() {
			const token = await tokens.get();
			if (token.kind === 'token') return { ok: true, reason: null };
			const { host } = new URL(base);
			const reason =
				token.kind === 'refused'
					? `${host} refuses MPESA_CONSUMER_KEY and MPESA_CONSUMER_SECRET (HTTP ${token.status}).`
					: `${host} gives no token (${token.cause}).`;
			return { ok: false, reason };
		}
	};
}
