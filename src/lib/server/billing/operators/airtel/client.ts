import {
	createClient,
	createTokens,
	tokenResponse,
	type AuthorisedOutcome,
	type FetchedToken
} from '../client.ts';
import type { OperatorDependencies } from '../definition.ts';
import { causeOf } from '../outcomes.ts';
import { jsonObject, member, textMember } from '../response.ts';
import { refusesSignature } from './outcomes.ts';
import type { AirtelValues } from './settings.ts';
import { rsaKey, signatureHeaders } from './signatures.ts';

/** Default if the response names none: documented for most markets; others live longer. */
const USUAL_TOKEN_SECONDS = 180;
/** The key's expiry (`valid_upto`) has no time zone, so the key is fetched again after this time. */
const KEY_SECONDS = 600;

export type AirtelClient = ReturnType<typeof createAirtelClient>;

/** Adds the token, the market and, if configured, a signature to requests. */
export function createAirtelClient(values: AirtelValues, { http, clock }: OperatorDependencies) {
	const { AIRTEL_BASE_URL: baseUrl } = values;
	const client = createClient({
		http,
		clock,
		baseUrl,
		headers: { accept: '*/*', 'x-country': values.AIRTEL_COUNTRY, 'x-currency': values.AIRTEL_CURRENCY },
		tokenRequest: {
			method: 'POST',
			url: `${baseUrl}/auth/oauth2/token`,
			headers: { accept: '*/*', 'content-type': 'application/json' },
			body: JSON.stringify({
				client_id: values.AIRTEL_CLIENT_ID,
				client_secret: values.AIRTEL_CLIENT_SECRET,
				grant_type: 'client_credentials'
			})
		},
		usualTokenSeconds: USUAL_TOKEN_SECONDS
	});
	const isSigned = values.AIRTEL_MESSAGE_SIGNING === 'on';
	const keys = createTokens(clock, async () => signingKey(await client.get('/v1/rsa/encryption-keys')));

	/** Sends once more only after a refused signature, because the key may be old: Airtel did nothing then. */
	async function post(path: string, body: object): Promise<AuthorisedOutcome> {
		if (!isSigned) return client.post(path, body);
		for (let attempt = 1; ; attempt += 1) {
			const key = await keys.get();
			if (key.kind !== 'token') return key;
			const sent = await client.post(path, body, signatureHeaders(JSON.stringify(body), key.value));
			if (sent.kind !== 'response' || !refusesSignature(sent)) return sent;
			keys.drop(key.value);
			if (attempt === 2) return sent;
		}
	}

	async function check(): Promise<string | null> {
		const noToken = await client.tokenProblem('AIRTEL_CLIENT_ID and AIRTEL_CLIENT_SECRET');
		if (noToken !== null || !isSigned) return noToken;
		const key = await keys.get();
		return key.kind === 'token'
			? null
			: `AIRTEL_MESSAGE_SIGNING: Airtel gives no signing key: ${causeOf(key)}.`;
	}

	return { get: client.get, post, check };
}

function signingKey(outcome: AuthorisedOutcome): FetchedToken {
	const answer = tokenResponse(outcome);
	if (answer.kind !== 'response') return answer;
	const value = textMember(member(jsonObject(answer.text), 'data'), 'key') ?? '';
	return isKey(value)
		? { kind: 'token', value, expiresInSeconds: KEY_SECONDS }
		: { kind: 'unavailable', cause: 'the response has no signing key' };
}

function isKey(value: string): boolean {
	try {
		return rsaKey(value).asymmetricKeyType === 'rsa';
	} catch {
		return false;
	}
}
