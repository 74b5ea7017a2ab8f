import {
	createCipheriv,
	createDecipheriv,
	createHmac,
	hash,
	hkdfSync,
	randomBytes,
	timingSafeEqual,
	type KeyObject
} from 'node:crypto';

/** Each purpose has its own key (HKDF-SHA256, RFC 5869), so that one use never weakens another. */
export interface Secrets {
	/** AES-256-GCM. Authenticates `context` (e.g. `session:9001`), so that a value cannot be moved elsewhere. */
	encrypt(plain: string, context: string): string;
	/** @throws Error if the secret or context differs, or the value was changed */
	decrypt(sealed: string, context: string): string;
	/** Derives at most 255 x 32 bytes. */
	derive(purpose: string, length: number): Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

export function createSecrets(secret: string): Secrets {
	const derive = (purpose: string, length: number) =>
		Buffer.from(hkdfSync('sha256', secret, 'airtill', purpose, length));
	const sealKey = derive('seal', 32);
	return {
		derive,
		encrypt(plain, context) {
			const nonce = randomBytes(NONCE_BYTES);
			const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context));
			const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
			return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
		},
		decrypt(sealed, context) {
			if (!sealed.startsWith(VERSION)) throw new Error('Sealed value has an unknown version');
			const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
			const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, NONCE_BYTES), {
				// Shorter tags are easier to forge.
				authTagLength: TAG_BYTES
			})
				.setAAD(Buffer.from(context))
				.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
			const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
			return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
		}
	};
}

/** As hex; enough for storing unguessable tokens and keys. */
export const sha256 = (text: string): string => hash('sha256', text);

export const sha256Bytes = (bytes: Buffer): string => hash('sha256', bytes);

export const hmac = (key: Buffer | KeyObject, text: string): string =>
	createHmac('sha256', key).update(text).digest('base64url');

/** Compares in constant time, except for texts of different length. */
export function equalSecrets(a: string, b: string): boolean {
	const left = Buffer.from(a);
	const right = Buffer.from(b);
	return left.length === right.length && timingSafeEqual(left, right);
}
