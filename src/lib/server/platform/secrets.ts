import {
	type KeyObject,
	createCipheriv,
	createDecipheriv,
	createHmac,
	hash,
	hkdfSync,
	randomBytes,
	randomInt,
	randomUUID,
	timingSafeEqual
} from 'node:crypto';
import { ulid } from 'ulid';

/** Each purpose has its own key (HKDF-SHA256, RFC 5869), so that one use never weakens another. */
export interface Secrets {
	/** AES-256-GCM. Authenticates `context` (e.g. `session:9001`), so that a value cannot be moved elsewhere. */
	encrypt(plain: string, context: string): string;
	/** @throws Error if no accepted secret or another context opens the value, or it was changed */
	decrypt(sealed: string, context: string): string;
	/** Position of the accepted secret that opens the value, 0 for the current one; -1 if none does. */
	keyIndex(sealed: string, context: string): number;
	/** Derives at most 255 x 32 bytes from the current secret. */
	derive(purpose: string, length: number): Buffer;
	deriveAll(purpose: string, length: number): Buffer[];
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

/** @param fallback a second secret, which opens and verifies what it sealed or signed; null without one */
export function createSecrets(secret: string, fallback: string | null = null): Secrets {
	const deriveFrom = (one: string, purpose: string, length: number) =>
		Buffer.from(hkdfSync('sha256', one, 'airtill', purpose, length));
	const derive = (purpose: string, length: number) => deriveFrom(secret, purpose, length);
	const deriveAll = (purpose: string, length: number) =>
		[secret, ...(fallback === null ? [] : [fallback])].map((one) => deriveFrom(one, purpose, length));
	const sealKey = derive('seal', 32);
	const openKeys = deriveAll('seal', 32);
	const keyIndex = (sealed: string, context: string) =>
		openKeys.findIndex((key) => {
			try {
				open(key, sealed, context);
				return true;
			} catch {
				return false;
			}
		});
	return {
		derive,
		deriveAll,
		keyIndex,
		encrypt(plain, context) {
			const nonce = randomBytes(NONCE_BYTES);
			const cipher = createCipheriv('aes-256-gcm', sealKey, nonce).setAAD(Buffer.from(context));
			const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
			return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
		},
		decrypt(sealed, context) {
			const key = openKeys.length === 1 ? sealKey : (openKeys[keyIndex(sealed, context)] ?? sealKey);
			return open(key, sealed, context);
		}
	};
}

function open(key: Buffer, sealed: string, context: string): string {
	if (!sealed.startsWith(VERSION)) throw new Error('Sealed value has an unknown version');
	const bytes = Buffer.from(sealed.slice(VERSION.length), 'base64url');
	const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
		// Shorter tags are easier to forge.
		authTagLength: TAG_BYTES
	})
		.setAAD(Buffer.from(context))
		.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
	const body = bytes.subarray(NONCE_BYTES + TAG_BYTES);
	return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
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

/** For a character of a ULID. `randomInt` keeps bytes in advance; the ulid package took an eighth of a whole request. */
const randomFraction = (): number => randomInt(256) / 256;

export const requestId = (): string => `req_${ulid(undefined, randomFraction)}`;

export const eventId = (): string => `evt_${ulid(undefined, randomFraction)}`;

/** UUID v4: our reference for a payment at the operator. */
export const paymentReference = (): string => randomUUID();

/**
 * Derives our reference for a refund, in the form of a UUID v4. A restored database that lacks a refund sends it with
 * the same reference, so the operator refuses to pay twice. As hard to guess as the payment's own.
 */
export const refundReference = (payment: string, attempt: number): string =>
	formatUuid(sha256(`refund ${attempt} of ${payment}`));

/** The same for a payout: the next one of an owner has the reference of one that a restored database lacks. */
export const payoutReference = (owner: { id: number; email: string; created_at: number }, number: number) =>
	formatUuid(sha256(`payout ${number} of ${owner.id} ${owner.email} ${owner.created_at}`));

const formatUuid = (hash: string): string =>
	hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');

/** 144 random bits as 24 base64url characters: the token in `/s/{token}`. */
export const purchaseToken = (): string => randomBytes(18).toString('base64url');

export const PURCHASE_TOKEN_PATTERN = /^[A-Za-z0-9_-]{24}$/;

export const gatewayKey = purchaseToken;

export const GATEWAY_KEY_PATTERN = PURCHASE_TOKEN_PATTERN;

export const captiveSessionId = purchaseToken;

export const CAPTIVE_SESSION_ID_PATTERN = PURCHASE_TOKEN_PATTERN;

const SECRET_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const SECRET_LENGTH = 32;

/** A secret shared with a gateway: only letters and digits (about 186 bits), because openNDS accepts no others. */
export const gatewaySecret = (): string => randomCharacters(SECRET_ALPHABET, SECRET_LENGTH);

/** Picks each character uniformly. */
export const randomCharacters = (alphabet: string, length: number): string =>
	Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
