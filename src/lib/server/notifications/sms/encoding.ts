/** The GSM 7-bit alphabet (3GPP TS 23.038, 6.2.1) without its extension. Other characters take 16 bits. */
const GSM = /^[@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&'()*+,\-./0-9:;<=>?¡A-ZÄÖÑÜ§¿a-zäöñüà]*$/;

const SEVEN_BIT = { whole: 160, part: 153 };
const SIXTEEN_BIT = { whole: 70, part: 67 };

/** Typographic characters of pages, which would more than double the price, by their plain form. */
const PLAIN: readonly [RegExp, string][] = [
	[/[\u2060\u2066-\u2069]/g, ''],
	[/[\u00a0\u202f]/g, ' '],
	[/[\u2010\u2011\u2013\u2212]/g, '-'],
	[/[‘’]/g, "'"],
	[/[“”«»]/g, '"']
];

export const smsText = (text: string): string =>
	PLAIN.reduce((plain, [pattern, instead]) => plain.replace(pattern, instead), text);

/** Counts the SMS that providers charge for. */
export function partsOf(text: string): number {
	const { whole, part } = GSM.test(text) ? SEVEN_BIT : SIXTEEN_BIT;
	return text.length <= whole ? 1 : Math.ceil(text.length / part);
}
