/**
 * Code of a purchase, such as K7MQ-29XT: 8 characters, 40 bits. Crockford's base 32 omits I, L, O and U, so
 * that misreadings can be corrected (https://www.crockford.com/base32.html).
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 8;
export const CODE_BYTES = 5;

/** Longer than any valid spelling of a code. */
const MAX_TYPED = 64;

const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' };

/** Zeros of the Arabic and Persian digits, which keyboards of our languages have. */
const ARABIC_ZEROS = [0x0660, 0x06f0];

export function codeOfBytes(bytes: Uint8Array): string {
	let bits = 0n;
	for (const byte of bytes.subarray(0, CODE_BYTES)) bits = (bits << 8n) | BigInt(byte);
	let code = '';
	for (let position = CODE_LENGTH - 1; position >= 0; position -= 1) {
		code += ALPHABET.charAt(Number((bits >> BigInt(5 * position)) & 31n));
	}
	return code;
}

export const codeText = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/** Reads a typed code; tolerates case, blanks, hyphens, look-alikes and Arabic digits. Null if invalid. */
export function readCode(typed: string): string | null {
	if (typed.length > MAX_TYPED) return null;
	const code = [...typed.normalize('NFKC').toUpperCase()]
		.map(latinDigit)
		.filter((character) => /[\p{L}\p{N}]/u.test(character))
		.map((character) => LOOK_ALIKES[character] ?? character)
		.join('');
	const isCode = code.length === CODE_LENGTH && [...code].every((character) => ALPHABET.includes(character));
	return isCode ? code : null;
}

function latinDigit(character: string): string {
	const point = character.codePointAt(0) ?? 0;
	const zero = ARABIC_ZEROS.find((first) => point >= first && point < first + 10);
	return zero === undefined ? character : String(point - zero);
}
