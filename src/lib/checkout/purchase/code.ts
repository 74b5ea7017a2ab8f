/**
 * The short code of a purchase, such as K7MQ-29XT: Crockford's base 32, which has no I, L, O and U, so that what is
 * read wrongly can still be read rightly. 8 characters are 40 bits.
 * @see https://www.crockford.com/base32.html
 */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
export const CODE_LENGTH = 8;
/** Bytes that make a code: five bits for each character. */
export const CODE_BYTES = 5;

/** Longer than any way of writing a code; what is longer is none. */
const MAX_TYPED = 64;

const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1', U: 'V' };

/** First digits of the other ways of writing 0 to 9 that keyboards of our languages have. */
const ARABIC_ZEROS = [0x0660, 0x06f0];

/** The characters of a code from `CODE_BYTES` bytes, without the hyphen. */
export function codeOfBytes(bytes: Uint8Array): string {
	let bits = 0n;
	for (const byte of bytes.subarray(0, CODE_BYTES)) bits = (bits << 8n) | BigInt(byte);
	let code = '';
	for (let place = CODE_LENGTH - 1; place >= 0; place -= 1) {
		code += ALPHABET.charAt(Number((bits >> BigInt(5 * place)) & 31n));
	}
	return code;
}

/** "K7MQ-29XT", as it is shown. */
export const codeText = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;

/**
 * Reads a typed code: small letters, blanks, missing hyphens, look-alikes and Arabic digits are fine.
 * @returns the characters without the hyphen; null when it cannot be a code
 */
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
