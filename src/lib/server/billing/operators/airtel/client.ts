import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import {
	createClient,
	createTokens,
	tokenResponse,
	type AuthorisedOutcome,
	type TokenOutcome
} from '../client.ts';
import type { OperatorDependencies } from '../definition.ts';
import { causeOf } from '../outcomes.ts';
import { jsonObject, member, textMember } from '../response.ts';
import { refusesSignature } from './outcomes.ts';
import type { AirtelValues } from './settings.ts';

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

function signingKey(outcome: AuthorisedOutcome): TokenOutcome {
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

/**
 * Signs a message: the body is sent in clear, and again encrypted under an AES key that only Airtel can
 * decrypt. Source: Airtel's portal, Encryption (RSA/ECB/PKCS1Padding, AES/CBC/PKCS5Padding).
 * @param body the exact bytes sent
 * @param publicKey base64 of an SPKI structure, from `/v1/rsa/encryption-keys`
 */
function signatureHeaders(body: string, publicKey: string): Record<string, string> {
	const key = randomBytes(32);
	const iv = randomBytes(16);
	const cipher = createCipheriv('aes-256-cbc', key, iv);
	const signature = Buffer.concat([cipher.update(body, 'utf8'), cipher.final()]).toString('base64');
	const wrapped = publicEncrypt(
		{ key: rsaKey(publicKey), padding: constants.RSA_PKCS1_PADDING },
		Buffer.from(`${key.toString('base64')}:${iv.toString('base64')}`)
	);
	return { 'x-signature': signature, 'x-key': wrapped.toString('base64') };
}

/** @throws Error if it is not a key */
const rsaKey = (publicKey: string) =>
	createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
