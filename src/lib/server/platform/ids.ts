import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import { sha256 } from './secrets.ts';

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
	sha256(`refund ${attempt} of ${payment}`).replace(
		/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
		'$1-$2-4$3-8$4-$5'
	);

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

const PASSWORD_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const PASSWORD_LENGTH = 12;

/** Picks characters uniformly: drops bytes beyond the last whole multiple of the alphabet. */
export function randomCharacters(alphabet: string, length: number): string {
	const limit = 256 - (256 % alphabet.length);
	let text = '';
	while (text.length < length) {
		for (const byte of randomBytes(length)) {
			if (byte < limit && text.length < length) text += alphabet.charAt(byte % alphabet.length);
		}
	}
	return text;
}

/**
 * Creates a Wi-Fi password: 12 characters without look-alikes (about 59 bits) as `xxxx-xxxx-xxxx`.
 * Never all hex, because old QR readers take hex text for a binary key.
 */
export function wifiPassword(): string {
	for (;;) {
		const text = randomCharacters(PASSWORD_ALPHABET, PASSWORD_LENGTH);
		if (/[g-z]/.test(text)) return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
	}
}
