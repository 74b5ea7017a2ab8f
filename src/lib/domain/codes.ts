/**
 * Codes that people copy by hand. Crockford's base 32 omits I, L, O and U, so that misreadings can be corrected
 * (https://www.crockford.com/base32.html).
 */
export const CODE_ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The code of a purchase, such as K7MQ-29XT: 8 characters, 40 bits. */
const PURCHASE_CODE_LENGTH = 8;
export const CODE_BYTES = 5;
/** The code of a voucher, such as K7MQ-29XT-4HWB: 60 bits. */
export const VOUCHER_CODE_LENGTH = 12;

/** Longer than any valid spelling of a code. */
const MAX_TYPED = 64;

const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' };

/** Zeros of the Arabic and Persian digits, which keyboards of our languages have. */
const ARABIC_ZEROS = [0x0660, 0x06f0];

export function codeOfBytes(bytes: Uint8Array): string {
	let bits = 0n;
	for (const byte of bytes.subarray(0, CODE_BYTES)) bits = (bits << 8n) | BigInt(byte);
	let code = '';
	for (let position = PURCHASE_CODE_LENGTH - 1; position >= 0; position -= 1) {
		code += CODE_ALPHABET.charAt(Number((bits >> BigInt(5 * position)) & 31n));
	}
	return code;
}

/** Formats a code in groups of four. */
export const codeText = (code: string): string => code.replace(/.{4}(?=.)/g, '$&-');

/** Reads a typed code; tolerates case, blanks, hyphens, look-alikes and Arabic digits. Null if invalid. */
export function readCode(typed: string, length = PURCHASE_CODE_LENGTH): string | null {
	if (typed.length > MAX_TYPED) return null;
	const code = [...typed.normalize('NFKC').toUpperCase()]
		.map(latinDigit)
		.filter((character) => /[\p{L}\p{N}]/u.test(character))
		.map((character) => LOOK_ALIKES[character] ?? character)
		.join('');
	const isCode = code.length === length && [...code].every((character) => CODE_ALPHABET.includes(character));
	return isCode ? code : null;
}

function latinDigit(character: string): string {
	const point = character.codePointAt(0) ?? 0;
	const zero = ARABIC_ZEROS.find((first) => point >= first && point < first + 10);
	return zero === undefined ? character : String(point - zero);
}
