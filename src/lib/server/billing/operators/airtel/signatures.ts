import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';

/**
 * Signs a message: the body is sent in clear, and again encrypted under an AES key that only Airtel can
 * decrypt. Source: Airtel's portal, Encryption (RSA/ECB/PKCS1Padding, AES/CBC/PKCS5Padding).
 * @param body the exact bytes sent
 * @param publicKey base64 of an SPKI structure, from `/v1/rsa/encryption-keys`
 */
export function signatureHeaders(body: string, publicKey: string): Record<string, string> {
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
export const rsaKey = (publicKey: string) =>
	createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
