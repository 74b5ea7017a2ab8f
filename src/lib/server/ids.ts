import { randomBytes, randomUUID } from 'node:crypto';
import { ulid } from 'ulid';

/** `req_<ULID>`: names one request in answers and logs. */
export const requestId = (): string => `req_${ulid()}`;

/** `evt_<ULID>`: names one event. */
export const eventId = (): string => `evt_${ulid()}`;

/** UUID v4: our reference of a payment or refund at the operator. */
export const operatorReference = (): string => randomUUID();

/** 144 random bits as 24 base64url characters: the only way into a purchase. */
export const purchaseToken = (): string => randomBytes(18).toString('base64url');

export const PURCHASE_TOKEN_PATTERN = /^[A-Za-z0-9_-]{24}$/;

const PASSWORD_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';
const PASSWORD_LENGTH = 12;

/** Uniform characters of an alphabet: bytes beyond its last whole multiple are thrown away. */
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
 * A Wi-Fi password: 12 characters without look-alikes (about 59 bits) as `xxxx-xxxx-xxxx`. Never all hex,
 * because old QR readers take a hex text for a binary key.
 */
export function wifiPassword(): string {
	for (;;) {
		const text = randomCharacters(PASSWORD_ALPHABET, PASSWORD_LENGTH);
		if (/[g-z]/.test(text)) return `${text.slice(0, 4)}-${text.slice(4, 8)}-${text.slice(8)}`;
	}
}
