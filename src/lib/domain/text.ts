/**
 * Text of a person or program, without what nobody sees: compatibility forms (fullwidth and mathematical characters,
 * no-break spaces) become plain, digits of every script Latin, a run of white space one space, and invisible characters
 * (direction marks, joiners, variation selectors) are deleted.
 */
export const plainText = (text: string): string =>
	text
		.normalize('NFKC')
		.replace(INVISIBLE, '')
		.replace(/\p{Nd}/gu, latinDigit)
		.replace(/[\p{Z}\s]+/gu, ' ')
		.trim();

/** A typed or copied telephone number, without the scheme of its link (RFC 3966, RFC 5724). */
export const plainNumber = (text: string): string => plainText(text).replace(/^(?:tel|sms|callto): ?/i, '');

/** UAX 44: characters that a font does not show, and the frame of a digit of an emoji keyboard. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}\u20e3]/gu;

const IS_DIGIT = /^\p{Nd}$/u;

/** Unicode has the digits of a script in a row, from 0 to 9. Some rows follow each other without a gap. */
function latinDigit(digit: string): string {
	const code = digit.codePointAt(0) ?? 0;
	let first = code;
	while (IS_DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
	return String((code - first) % 10);
}

/** Persian and Indic scripts, and emoji, need the two joiners. */
const JOINERS = /[\u200c\u200d]/g;
/** Text copied from other programs often has them around it. */
const DIRECTION_MARKS = /[\u200e\u200f\u061c\ufeff]/g;
/** Control characters, and invisible ones that hide or turn around the text beside them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;

/** Reads one line that other people will see: NFC, without direction marks, with single blanks. */
export const readLine = (text: string): string =>
	text.normalize('NFC').replace(DIRECTION_MARKS, '').replace(/\s+/g, ' ').trim();

/** Returns the first character that a line must not contain, as `U+202E`; null if there is none. */
export function hiddenCharacter(line: string): string | null {
	const [found] = HIDDEN.exec(line.replace(JOINERS, '')) ?? [];
	return found === undefined
		? null
		: `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** For text that must not be refused, such as a reason. */
export const withoutHidden = (text: string): string =>
	[...readLine(text)].filter((one) => hiddenCharacter(one) === null).join('');

/** As people write it, with or without a country code; short numbers too: "0772 123 456", "+256 414 …", "165". */
const PHONE = /^\+?(?:[ ().-]*\d){3,15}$/;
const EMAIL = /^[^\s@,]+@[^\s@,]+\.[^\s@,]+$/;

/** Reads a telephone number that pages show as it was written. Returns null for other texts. */
export function readPhone(text: string): string | null {
	const phone = plainNumber(text).replace(/[\u2010-\u2015\u2212]/g, '-');
	return PHONE.test(phone) ? phone : null;
}

export const isContact = (text: string): boolean => readPhone(text) !== null || EMAIL.test(text);

/** Returns the number of an id, which may have 16 digits, or null if the text is none. */
export function parseId(text: string): number | null {
	const id = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
	return Number.isSafeInteger(id) ? id : null;
}

/** Returns the address that calls a phone number, or writes to an email address. */
export const contactHref = (contact: string): string =>
	contact.includes('@')
		? `mailto:${contact}`
		: `tel:${plainNumber(contact)
				.replace(/^(\+.*?)\(0\)/, '$1')
				.replace(/[^\d+]/g, '')}`;
