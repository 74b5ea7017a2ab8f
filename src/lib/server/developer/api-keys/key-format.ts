import { crc32 } from 'node:zlib';
import { randomCharacters } from '#lib/server/platform/ids.ts';

/**
 * Format: `atl_live_` or `atl_test_`, 30 random base62 characters (about 178 bits), and a CRC-32 of all that in
 * 6 base62 characters. Typing errors need no database query, and secret scanners recognise real keys.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const PATTERN = /^atl_(live|test)_[0-9A-Za-z]{36}$/;

export type KeyMode = 'live' | 'test';

function checksum(text: string): string {
	let value = crc32(text);
	let digits = '';
	for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
		digits = ALPHABET.charAt(value % ALPHABET.length) + digits;
		value = Math.floor(value / ALPHABET.length);
	}
	return digits;
}

function assemble(mode: KeyMode, random: string): string {
	const text = `atl_${mode}_${random}`;
	return text + checksum(text);
}

export const generateKey = (mode: KeyMode): string =>
	assemble(mode, randomCharacters(ALPHABET, RANDOM_LENGTH));

/** Makes one of Airtill's own keys from at least 64 secret bytes. */
export function keyFromBytes(mode: KeyMode, bytes: Uint8Array): string {
	const limit = 256 - (256 % ALPHABET.length);
	const usable = [...bytes].filter((byte) => byte < limit).slice(0, RANDOM_LENGTH);
	if (usable.length < RANDOM_LENGTH) throw new Error('Too few bytes for a key');
	return assemble(mode, usable.map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join(''));
}

/** Returns null if the form or checksum is wrong. */
export function keyMode(key: string): KeyMode | null {
	const match = PATTERN.exec(key);
	if (!match) return null;
	if (key.slice(-CHECKSUM_LENGTH) !== checksum(key.slice(0, -CHECKSUM_LENGTH))) return null;
	return match[1] === 'live' ? 'live' : 'test';
}

/** For display, such as `atl_live_…Q7xd`. */
export const keyHint = (key: string): string => `${key.slice(0, 9)}…${key.slice(-4)}`;
