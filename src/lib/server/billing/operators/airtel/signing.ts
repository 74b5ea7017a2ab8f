import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';

/**
 * Airtel's message signing: the body goes in clear, and beside it once more under a random AES key that only Airtel
 * can unwrap. (Airtel's portal, Encryption: RSA/ECB/PKCS1Padding, AES/CBC/PKCS5Padding; mobile-money.md 3.6.)
 * @param body the exact bytes that are sent
 * @param publicKey base64 of an SPKI structure, as `/v1/rsa/encryption-keys` gives it
 * @throws Error when it is no such key
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

/** @throws Error when it is no key */
export const rsaKey = (publicKey: string) =>
	createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
