import type { Position } from '../domain/geo.ts';
import { positionOf } from './position.ts';

export const MAX_PLACE_LENGTH = 100;

const NUMBER = String.raw`[-+]?\d{1,3}(?:\.\d{1,20})?`;
/** Two decimal numbers, separated by a comma, a semicolon or blanks. */
const PLAIN = new RegExp(`^(${NUMBER})(?:\\s*[,;]\\s*|\\s+)(${NUMBER})$`);
/** The same with decimal commas: "0,3476 32,5825" or "0,3476; 32,5825". */
const DECIMAL_COMMAS = /^([-+]?\d{1,3},\d{1,20})(?:\s*;\s*|,?\s+)([-+]?\d{1,3},\d{1,20})$/;
/** Degrees, optional minutes and seconds, and the hemisphere's letter before or after. */
const ANGLE = String.raw`(\d{1,3}(?:\.\d{1,20})?)\s*°?\s*(?:(\d{1,2}(?:\.\d{1,20})?)\s*'\s*)?(?:(\d{1,2}(?:\.\d{1,20})?)\s*"\s*)?`;
const LETTER_BEHIND = new RegExp(`^${ANGLE}\\s*([NS])\\s*[,;]?\\s*${ANGLE}\\s*([EW])$`, 'i');
const LETTER_BEFORE = new RegExp(`^([NS])\\s*${ANGLE}\\s*[,;]?\\s*([EW])\\s*${ANGLE}$`, 'i');

function angle(degrees = '', minutes = '0', seconds = '0', letter = ''): number {
	const parts = [Number(degrees), Number(minutes), Number(seconds)] as const;
	if (parts[1] >= 60 || parts[2] >= 60) return Number.NaN;
	const value = parts[0] + parts[1] / 60 + parts[2] / 3600;
	return /[SW]/i.test(letter) ? -value : value;
}

/**
 * Parses a position; null for other texts. Accepts `0.3476, 32.5825`, `0.3476° N 32.5825° E`, `0°20'51.4"N
 * 32°34'57"E` and `geo:0.3476,32.5825`.
 */
export function parsePlace(text: string): Position | null {
	if (text.length > MAX_PLACE_LENGTH) return null;
	const tidy = text
		.trim()
		.replace(/^geo:/i, '')
		.replace(/[\u2032\u2019]/g, "'")
		.replace(/[\u2033\u201d]|''/g, '"')
		.replaceAll('\u00ba', '°')
		.replaceAll('\u2212', '-');

	const commas = DECIMAL_COMMAS.exec(tidy);
	if (commas?.[1] && commas[2]) {
		return positionOf(Number(commas[1].replace(',', '.')), Number(commas[2].replace(',', '.')));
	}
	const behind = LETTER_BEHIND.exec(tidy);
	if (behind) {
		return positionOf(
			angle(behind[1], behind[2], behind[3], behind[4]),
			angle(behind[5], behind[6], behind[7], behind[8])
		);
	}
	const before = LETTER_BEFORE.exec(tidy);
	if (before) {
		return positionOf(
			angle(before[2], before[3], before[4], before[1]),
			angle(before[6], before[7], before[8], before[5])
		);
	}
	const plain = PLAIN.exec(tidy.replaceAll('°', ' ').replace(/ +,/g, ',').trim());
	return plain ? positionOf(Number(plain[1]), Number(plain[2])) : null;
}
