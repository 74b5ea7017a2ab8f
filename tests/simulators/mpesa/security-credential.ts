import { constants, generateKeyPairSync, privateDecrypt, publicEncrypt } from 'node:crypto';

const RSA = { padding: constants.RSA_PKCS1_PADDING };

/** One pair for the whole process, as the operator has one certificate. */
let keys: ReturnType<typeof generateKeys> | null = null;

const generateKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/** M-Pesa's key pair, with which a client encrypts the initiator's password. */
export function createSecurityCredential() {
	const { publicKey, privateKey } = (keys ??= generateKeys());
	return {
		/** The public key of the operator's certificate, as SPKI in PEM. */
		publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
		/** As the operator's portal does it. */
		encrypt: (password: string): string =>
			publicEncrypt({ key: publicKey, ...RSA }, Buffer.from(password)).toString('base64'),
		/** @returns null when it was not encrypted with the public key */
		decrypt(securityCredential: string): string | null {
			try {
				const encrypted = Buffer.from(securityCredential, 'base64');
				return privateDecrypt({ key: privateKey, ...RSA }, encrypted).toString('utf8');
			} catch {
				return null;
			}
		}
	};
}
