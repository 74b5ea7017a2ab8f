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
