import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { generateKey, keyFromBytes, keyMode } from '#lib/server/developer/api-keys.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/secrets.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** CRC-32 (ISO 3309), bit by bit. */
function crc32(text: string): number {
	let crc = 0xffffffff;
	for (const byte of Buffer.from(text)) {
		crc ^= byte;
		for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return (crc ^ 0xffffffff) >>> 0;
}

function base62(value: number): string {
	let digits = '';
	for (let rest = value; digits.length < 6; rest = Math.floor(rest / 62))
		digits = alphabet.charAt(rest % 62) + digits;
	return digits;
}

describe('an API key', () => {
	it.each(['live', 'test'] as const)(
		'of %s mode has its mark, 30 random characters and their checksum',
		(mode) => {
			for (let count = 0; count < 200; count += 1) {
				const key = generateKey(mode);
				expect(key).toMatch(new RegExp(`^atl_${mode}_[0-9A-Za-z]{36}$`));
				expect(key.slice(-6)).toBe(base62(crc32(key.slice(0, -6))));
				expect(keyMode(key)).toBe(mode);
			}
		}
	);

	it('is refused for a single wrong, missing or added character', () => {
		const key = generateKey('test');
		for (let at = 0; at < key.length; at += 1) {
			const other = key.charAt(at) === 'x' ? 'y' : 'x';
			expect(keyMode(key.slice(0, at) + other + key.slice(at + 1))).toBeNull();
			expect(keyMode(key.slice(0, at) + key.slice(at + 1))).toBeNull();
		}
		for (const text of [
			`${key}x`,
			` ${key}`,
			`${key}\n`,
			key.toUpperCase(),
			key.replace('test', 'live'),
			''
		]) {
			expect(keyMode(text)).toBeNull();
		}
	});

	it('made from bytes is the same for the same bytes, and needs enough of them', () => {
		const bytes = createHash('sha512').update('a secret').digest();
		expect(keyFromBytes('test', bytes)).toBe(keyFromBytes('test', bytes));
		expect(keyMode(keyFromBytes('live', bytes))).toBe('live');
		expect(() => keyFromBytes('test', Buffer.alloc(29))).toThrow();
		// Bytes of 248 and more would favour the first characters of the alphabet.
		expect(() => keyFromBytes('test', Buffer.alloc(64, 250))).toThrow();
	});
});

it('a purchase token holds 144 bits', () => {
	const tokens = Array.from({ length: 500 }, purchaseToken);
	for (const token of tokens) expect(token).toMatch(PURCHASE_TOKEN_PATTERN);
	expect(Buffer.from(tokens[0] ?? '', 'base64url')).toHaveLength(18);
	expect(new Set(tokens).size).toBe(tokens.length);
});
