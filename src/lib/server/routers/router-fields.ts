import { ACCESS_KINDS } from '#lib/domain/wifi.ts';
import { currencyExponent, formatFault, readAmount, toMajor } from '#lib/domain/money.ts';
import { hiddenCharacter, plainText, readLine } from '#lib/domain/text.ts';
import { parseHours } from '#lib/domain/opening-hours.ts';
import type { Report } from '../platform/errors.ts';
import type { Row } from '../db/schema.ts';

/** The fields of a router as texts of a file or of the command line. */

export const ROUTER_FIELDS = [
	'name',
	'address',
	'ssid',
	'lat',
	'lon',
	'price',
	'security',
	'access_kind',
	'status',
	'hidden'
] as const;

type RouterField = (typeof ROUTER_FIELDS)[number] | 'opening_hours';

/** Texts of a file or of the command line. Omitted fields are not read. */
export type RouterTexts = Partial<Record<RouterField, string>>;

export type StatedFields = Partial<
	Pick<Row<'routers'>, Exclude<RouterField, 'price'> | 'price_minor' | 'max_duration'>
>;

export interface PriceRules {
	currency: string;
	/** Highest price per hour, in major units. */
	maxPrice: number;
}

/** Longer texts are cut, because they are for display only. */
export const MAX_NAME_CHARACTERS = 120;
export const MAX_ADDRESS_CHARACTERS = 200;
/** IEEE 802.11: an SSID is 0 to 32 octets. */
export const MAX_SSID_BYTES = 32;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;
const SECURITIES = ['wpa', 'nopass'] as const;
const STATUSES = ['online', 'offline'] as const;
const HIDDEN_WORDS = new Map([
	...['yes', 'true', '1'].map((word) => [word, 1] as const),
	...['no', 'false', '0'].map((word) => [word, 0] as const)
]);

/** Control characters, line separators, and characters that change the text direction. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const INVISIBLE_RUN = new RegExp(`${INVISIBLE.source}+`, 'gu');

export const visible = (text: string | undefined): string => (text ?? '').replace(INVISIBLE_RUN, ' ').trim();

type Fail = (reason: string) => undefined;

/** Texts that are refused with an invisible character instead of losing it: an SSID is another name without it. */
const AS_TYPED: readonly RouterField[] = ['ssid', 'name', 'address'];

/**
 * Reads the given fields. Continues after a wrong field, so that one pass reports all of them.
 * @param note receives corrections
 */
export function readRouterFields(texts: RouterTexts, rules: PriceRules, report: Report, note: Report) {
	const readers: Record<RouterField, (text: string, fail: Fail) => string | number | null | undefined> = {
		name: (text, fail) =>
			readShown(text, 'name', fail, (line) => cut(line, MAX_NAME_CHARACTERS, 'name', note)),
		address: (text, fail) =>
			readShown(text, 'address', fail, (line) => cut(line, MAX_ADDRESS_CHARACTERS, 'address', note) || null),
		ssid: readSsid,
		lat: (text, fail) => readDegrees(text, 'latitude', 90, fail),
		lon: (text, fail) => readDegrees(text, 'longitude', 180, fail),
		price: (text, fail) => readPriceField(text, rules, fail),
		security: (text, fail) => readWord(text, 'security', SECURITIES, fail),
		access_kind: (text, fail) => readWord(text, 'access kind', ACCESS_KINDS, fail),
		status: (text, fail) => readWord(text, 'status', STATUSES, fail),
		hidden: readHidden,
		opening_hours: readOpeningHours
	};
	const fields = ([...ROUTER_FIELDS, 'opening_hours'] as const).flatMap((field) => {
		const text = texts[field];
		if (text === undefined) return [];
		// An SSID is kept byte for byte, with spaces at its ends: the QR code of another name joins nothing.
		const value = readers[field](
			AS_TYPED.includes(field) ? text : visible(text),
			(reason) => void report(field, reason)
		);
		return value === undefined ? [] : [[field === 'price' ? 'price_minor' : field, value] as const];
	});
	return Object.fromEntries(fields) as StatedFields;
}

/** Names a router after its place, if its owner gave it no name. */
export const nameAfter = (address: string | null | undefined, ssid: string): string =>
	address || ssid.trim() || 'Wi-Fi';

export function cut(text: string, limit: number, field: RouterField, note: Report): string {
	const characters = [...text];
	if (characters.length <= limit) return text;
	note(field, `cut to ${limit} characters`);
	return characters.slice(0, limit).join('').trimEnd();
}

function readShown<Value>(text: string, what: string, fail: Fail, read: (line: string) => Value) {
	const line = readLine(text);
	const hidden = hiddenCharacter(line);
	return hidden === null
		? read(line)
		: fail(`the ${what} has an invisible character (${hidden}); type it again`);
}

function readSsid(text: string, fail: Fail): string | undefined {
	// A name of blanks only is one.
	if (text.replace(INVISIBLE, '') === '') return fail('no SSID');
	if (text.search(INVISIBLE) !== -1) return fail(`SSID "${visible(text)}" has an invisible character`);
	const bytes = Buffer.byteLength(text);
	if (bytes <= MAX_SSID_BYTES) return text;
	return fail(`SSID "${text}" has ${bytes} bytes; a network's name has at most ${MAX_SSID_BYTES}`);
}

/** @returns 1 or 0, as stored */
function readHidden(text: string, fail: Fail): number | undefined {
	if (text === '') return undefined;
	const word = HIDDEN_WORDS.get(text.toLowerCase());
	return word ?? fail(`unknown value of hidden "${text}" (use yes or no)`);
}

function readOpeningHours(text: string, fail: Fail): string | null | undefined {
	if (text === '' || parseHours(text)) return text || null;
	return fail(`opening hours "${text}" are not like "mon 08:00-22:00, fri 18:00-02:00"`);
}

function readDegrees(text: string, what: string, limit: number, fail: Fail): number | undefined {
	if (text === '') return fail(`no position: ${what} is missing`);
	const number = plainText(text).replaceAll('\u2212', '-').replace(',', '.');
	if (!NUMBER.test(number)) return fail(`no position: ${what} "${text}" is not a number`);
	if (Math.abs(Number(number)) <= limit) return Number(number);
	return fail(`${what} ${text} is out of range, -${limit} to ${limit}`);
}

function readPriceField(text: string, rules: PriceRules, fail: Fail): number | undefined {
	if (text === '') return fail('no price');
	const price = readPrice(text, rules);
	return typeof price === 'number' ? price : fail(`price ${price}`);
}

/**
 * Reads a price per hour of a file or command.
 * @returns minor units, or why it is none, as a sentence that begins with the text
 */
export function readPrice(text: string, { currency, maxPrice }: PriceRules): number | string {
	const price = readAmount(text, currency, null);
	if (price === 'ambiguous' || price === 'other_currency') {
		return `"${text}" ${formatFault(price, text, currency)}`;
	}
	if (typeof price === 'number' && price > 0 && toMajor(price, currency) <= maxPrice) return price;
	const decimals = currencyExponent(currency);
	return `"${text}": a price in ${currency} is a number above 0, at most ${maxPrice} (MAX_PRICE), with ${decimals === 0 ? 'no' : `at most ${decimals}`} decimals`;
}

/** An empty text states nothing. */
function readWord<Word extends string>(text: string, what: string, words: readonly Word[], fail: Fail) {
	if (text === '') return undefined;
	const word = words.find((known) => known === text.toLowerCase());
	return word ?? fail(`unknown ${what} "${text}" (use ${words.join(' or ')})`);
}
