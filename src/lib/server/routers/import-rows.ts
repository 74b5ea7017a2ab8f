import { ACCESS_KINDS, type AccessKind } from '#lib/domain/access-kind.ts';
import { currencyExponent, toMinor } from '#lib/domain/money.ts';
import { sha256 } from '../platform/secrets.ts';
import { CsvFileError, readCsv } from '../platform/csv.ts';
import type { RouterRow } from './store.ts';

export const IMPORT_FIELDS = [
	'id',
	'name',
	'address',
	'ssid',
	'lat',
	'lon',
	'price',
	'security',
	'access_kind',
	'status'
] as const;

export type ImportField = (typeof IMPORT_FIELDS)[number];

export type ColumnMap = ReadonlyMap<ImportField, string>;

type Stated = Pick<RouterRow, 'ssid' | 'lat' | 'lon' | 'price_minor' | 'currency'> &
	Partial<Pick<RouterRow, 'name' | 'address' | 'security' | 'access_kind' | 'status'>>;

export interface ImportedRouter {
	/** The owner's id, or one derived from the row's content. */
	externalId: string;
	/** Values in the file. Missing columns keep their value or get a default. */
	stated: Stated;
	/** For a new router, if no column holds names. */
	fallbackName: string;
}

interface RowRemark {
	/** The first line of the row; the header is line 1. */
	line: number;
	text: string;
}

interface ImportedFile {
	routers: ImportedRouter[];
	problems: RowRemark[];
	badRows: number;
	/** Corrections to valid rows. */
	notes: RowRemark[];
}

interface PriceRules {
	/** Of all prices in the file. */
	currency: string;
	/** Highest price per hour, in major units. */
	maxPrice: number;
}

interface RowSettings extends PriceRules {
	columns: ColumnMap;
	/** Price per hour in minor units, for rows without one. */
	priceMinor: number | null;
}

const MAX_ROWS = 250_000;
const MAX_ID_CHARACTERS = 100;
/** Longer texts are cut, because they are for display only. */
const MAX_NAME_CHARACTERS = 120;
const MAX_ADDRESS_CHARACTERS = 200;
/** IEEE 802.11: an SSID is 0 to 32 octets. */
const MAX_SSID_BYTES = 32;
const DERIVED_ID_CHARACTERS = 32;

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;
const AMOUNT = /^\d+(\.\d+)?$/;
const SECURITIES = ['wpa', 'nopass'] as const;
const STATUSES = ['online', 'offline'] as const;

/**
 * @param bytes UTF-8, with or without byte order mark
 * @throws CsvFileError if the whole file is unusable, for example if a column is missing
 */
export function readRouters(bytes: Buffer, settings: RowSettings): ImportedFile {
	const file: ImportedFile = { routers: [], problems: [], badRows: 0, notes: [] };
	let columnOf = new Map<ImportField, number>();
	const lineOfId = new Map<string, number>();
	const countOfContent = new Map<string, number>();
	let rows = 0;

	readCsv(bytes, {
		header(columns) {
			columnOf = columnIndexes(settings.columns, columns);
		},
		row(cells, line) {
			rows += 1;
			if (rows > MAX_ROWS) throw new CsvFileError(`The file has more than ${MAX_ROWS} rows; split it.`);
			const reasons: string[] = [];
			const notes: string[] = [];
			const router = readRow({ cells, columnOf, settings, lineOfId, line, reasons, notes });
			if (router && reasons.length === 0) {
				const externalId = router.id ?? contentId(router, countOfContent);
				file.routers.push({ externalId, stated: router.stated, fallbackName: router.fallbackName });
				file.notes.push(...notes.map((text) => ({ line, text })));
			} else {
				file.badRows += 1;
				file.problems.push(...reasons.map((text) => ({ line, text })));
			}
		},
		problem(line, text) {
			file.badRows += 1;
			file.problems.push({ line, text });
		}
	});
	return file;
}

/** Returns null if the price is invalid in the currency or too high. */
export function parsePrice(text: string, { currency, maxPrice }: PriceRules): number | null {
	return AMOUNT.test(text) && Number(text) <= maxPrice ? toMinor(Number(text), currency) : null;
}

export function priceRule({ currency, maxPrice }: PriceRules): string {
	const decimals = currencyExponent(currency);
	return `a price in ${currency} is a number above 0, at most ${maxPrice} (MAX_PRICE), with ${decimals === 0 ? 'no' : `at most ${decimals}`} decimals`;
}

function columnIndexes(map: ColumnMap, header: string[]): Map<ImportField, number> {
	const columns = header.map((name) => name.trim());
	const columnOf = new Map<ImportField, number>();
	for (const [field, column] of map) {
		const index = columns.indexOf(column);
		if (index === -1) {
			throw new CsvFileError(
				`The file has no column "${column}" (for ${field}). Its columns: ${columns.join(', ')}.`
			);
		}
		if (columns.includes(column, index + 1)) {
			throw new CsvFileError(`The file has more than one column "${column}" (for ${field}).`);
		}
		columnOf.set(field, index);
	}
	return columnOf;
}

/** Control characters, line separators, and characters that change the text direction. */
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const INVISIBLE_RUN = new RegExp(`${INVISIBLE.source}+`, 'gu');

interface RowInput {
	cells: string[];
	line: number;
	columnOf: ReadonlyMap<ImportField, number>;
	settings: RowSettings;
	/** Ids of earlier rows with their lines. Reading a row adds its own. */
	lineOfId: Map<string, number>;
	reasons: string[];
	notes: string[];
}

/** Notes why a row is invalid. */
type Fail = (reason: string) => null;

/** Reads a row. Returns null and fills `reasons` if it is invalid. */
function readRow(input: RowInput): { id: string | null; stated: Stated; fallbackName: string } | null {
	const { cells, columnOf, settings, reasons, notes } = input;
	const { currency } = settings;
	/** Returns '' if the cell is empty or no column holds the field. */
	const cell = (field: ImportField) =>
		(cells[columnOf.get(field) ?? -1] ?? '').replace(INVISIBLE_RUN, ' ').trim();
	/** Collects the reason and continues, so that one pass reports all of them. */
	const fail: Fail = (reason) => {
		reasons.push(reason);
		return null;
	};
	const cut = (text: string, limit: number, what: string) => {
		const characters = [...text];
		if (characters.length <= limit) return text;
		notes.push(`${what} cut to ${limit} characters`);
		return characters.slice(0, limit).join('').trimEnd();
	};

	const id = columnOf.has('id') ? readId(cell('id'), input, fail) : null;
	const ssid = readSsid(cells[columnOf.get('ssid') ?? -1] ?? '', fail);
	const lat = readDegrees(cell('lat'), 'latitude', 90, fail);
	const lon = readDegrees(cell('lon'), 'longitude', 180, fail);
	const priceMinor = readPrice(cell('price'), settings, fail);
	const security = readWord(cell('security'), 'security', SECURITIES, fail);
	const accessKind = readWord(cell('access_kind'), 'access kind', ACCESS_KINDS, fail);
	if (security === 'nopass' && accessKind !== null && accessKind !== 'portal_login') {
		reasons.push(`access kind "${accessKind}" on an open network: only portal_login works there`);
	}
	const status = readWord(cell('status'), 'status', STATUSES, fail);
	if (ssid === null || lat === null || lon === null || priceMinor === null) return null;

	const address = cut(cell('address'), MAX_ADDRESS_CHARACTERS, 'address');
	const name = cut(cell('name') || address || ssid, MAX_NAME_CHARACTERS, 'name');
	const fallbackName = [...(address || ssid)].slice(0, MAX_NAME_CHARACTERS).join('');
	return {
		id,
		fallbackName,
		stated: {
			ssid,
			lat,
			lon,
			price_minor: priceMinor,
			currency,
			...(columnOf.has('name') ? { name } : {}),
			...(columnOf.has('address') ? { address: address || null } : {}),
			...(security ? { security } : {}),
			...accessOf(security, accessKind),
			...(status ? { status } : {})
		}
	};
}

function readId(id: string, { lineOfId, line }: RowInput, fail: Fail): string | null {
	if (id === '') return fail('no id');
	if (id.length > MAX_ID_CHARACTERS) return fail(`id is longer than ${MAX_ID_CHARACTERS} characters`);
	const before = lineOfId.get(id);
	if (before !== undefined) return fail(`duplicate id "${id}", already on line ${before}`);
	lineOfId.set(id, line);
	return id;
}

function readSsid(text: string, fail: Fail): string | null {
	const ssid = text.replace(INVISIBLE, '').trim();
	if (ssid === '') return fail('no SSID');
	const bytes = Buffer.byteLength(ssid);
	if (bytes <= MAX_SSID_BYTES) return ssid;
	return fail(`SSID "${ssid}" has ${bytes} bytes; a network's name has at most ${MAX_SSID_BYTES}`);
}

function readDegrees(text: string, what: string, limit: number, fail: Fail): number | null {
	if (text === '') return fail(`no position: ${what} is missing`);
	if (!NUMBER.test(text)) return fail(`no position: ${what} "${text}" is not a number`);
	if (Math.abs(Number(text)) <= limit) return Number(text);
	return fail(`${what} ${text} is out of range, -${limit} to ${limit}`);
}

function readPrice(text: string, settings: RowSettings, fail: Fail): number | null {
	if (text === '') return settings.priceMinor ?? fail('no price');
	return parsePrice(text, settings) ?? fail(`price "${text}": ${priceRule(settings)}`);
}

/** Open networks support only sign-in at the hotspot. */
function accessOf(security: 'wpa' | 'nopass' | null, kind: AccessKind | null): Pick<Stated, 'access_kind'> {
	const access_kind = kind ?? (security === 'nopass' ? 'portal_login' : null);
	return access_kind === null ? {} : { access_kind };
}

function readWord<Word extends string>(
	text: string,
	what: string,
	words: readonly Word[],
	fail: Fail
): Word | null {
	if (text === '') return null;
	const word = words.find((known) => known === text.toLowerCase());
	return word ?? fail(`unknown ${what} "${text}" (use ${words.join(' or ')})`);
}

/** Equal rows differ by their order, so that a second import finds the same routers. */
function contentId(router: { stated: Stated; fallbackName: string }, counts: Map<string, number>): string {
	const { ssid, lat, lon, name } = router.stated;
	const content = sha256(JSON.stringify([ssid, lat, lon, name ?? router.fallbackName]));
	const ordinal = (counts.get(content) ?? 0) + 1;
	counts.set(content, ordinal);
	return `row:${content.slice(0, DERIVED_ID_CHARACTERS)}:${ordinal}`;
}
