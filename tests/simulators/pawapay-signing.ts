import { type KeyObject, createHash, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import type { SimulatorRequest } from './simulator.ts';

/** pawaPay's signatures by RFC 9421, with the library that the operator's own example uses. */

const ALGORITHM = 'ecdsa-p256-sha256';
const COVERED = ['@method', '@authority', '@path', 'signature-date', 'content-digest', 'content-type'];
const LIFE_MS = 5 * 60 * 1000;

interface KeyRing {
	/** In the order of GET /v2/public-key/http: a retired key comes before the current one. */
	published: { id: string; key: string }[];
	id: string;
	key: KeyObject;
	/** Somebody else's, who knows the id. */
	forged: KeyObject;
}

export function makeKeys(): KeyRing {
	const make = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
	const [retired, current, forged] = [make(), make(), make()];
	const pem = ({ publicKey }: { publicKey: KeyObject }) =>
		publicKey.export({ type: 'spki', format: 'pem' }).toString();
	const id = 'HTTP_EC_P256_KEY:2';
	return {
		published: [
			{ id: 'HTTP_EC_P256_KEY:1', key: pem(retired) },
			{ id, key: pem(current) }
		],
		id,
		key: current.privateKey,
		forged: forged.privateKey
	};
}

/**
 * Headers of a signed callback.
 * @param form `der` is what the operator sends; `raw`, with a SHA-256 digest, is what the RFC says
 */
export async function signCallback(request: {
	url: string;
	body: string;
	headers: Record<string, string>;
	id: string;
	key: KeyObject;
	form: 'der' | 'raw';
	now: number;
}): Promise<Record<string, string>> {
	const { url, body, form, now } = request;
	const headers = { ...request.headers, ...digestHeaders(body, form, now) };
	const signed = await httpbis.signMessage(signer(request, COVERED), { method: 'POST', url, headers });
	return signed.headers as Record<string, string>;
}

function digestHeaders(body: string, form: 'der' | 'raw', now: number): Record<string, string> {
	const [name, algorithm] = form === 'der' ? ['sha-512', 'sha512'] : ['sha-256', 'sha256'];
	return {
		'Content-Digest': `${name}=:${createHash(algorithm).update(body).digest('base64')}:`,
		'Signature-Date': new Date(now).toISOString()
	};
}

const signer = (
	{ id, key, form, now }: { id: string; key: KeyObject; form: 'der' | 'raw'; now: number },
	fields: string[]
) => ({
	name: 'sig-pp',
	fields,
	params: ['alg', 'keyid', 'created', 'expires'],
	paramValues: { created: new Date(now), expires: new Date(now + LIFE_MS) },
	key: {
		id,
		alg: ALGORITHM,
		sign: (data: Buffer) =>
			Promise.resolve(sign('sha256', data, { key, dsaEncoding: form === 'der' ? 'der' : 'ieee-p1363' }))
	}
});

/** Whether the merchant's key signed a request, and its body. */
export async function isSignedBy(
	request: SimulatorRequest,
	merchant: { id: string; pem: string },
	now: number
): Promise<boolean> {
	const headers = Object.fromEntries(
		Object.entries(request.headers).map(([name, value]) => [name, value ?? ''])
	);
	const digests = [...String(headers['content-digest'] ?? '').matchAll(/sha-(256|512)=:([^:]*):/g)];
	const bodyMatches = digests.every(
		([, size, value]) => createHash(`sha${size}`).update(request.body).digest('base64') === value
	);
	if (digests.length === 0 || !bodyMatches) return false;
	const key = createPublicKey(merchant.pem);
	try {
		const verified = await httpbis.verifyMessage(
			{
				requiredFields: ['@method', '@path', 'content-digest'],
				requiredParams: ['keyid', 'created'],
				notAfter: new Date(now + 60_000),
				tolerance: 60,
				keyLookup: ({ keyid }) =>
					Promise.resolve(
						keyid !== merchant.id
							? null
							: {
									id: merchant.id,
									algs: [ALGORITHM],
									verify: (data: Buffer, signature: Buffer) =>
										Promise.resolve(
											(['der', 'ieee-p1363'] as const).some((dsaEncoding) =>
												verify('sha256', data, { key, dsaEncoding }, signature)
											)
										)
								}
					)
			},
			{
				method: request.method,
				url: `http://${String(headers['host'])}${request.path}`,
				headers
			}
		);
		return verified === true;
	} catch {
		return false;
	}
}
