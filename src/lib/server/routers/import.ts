import { sha256 } from '../platform/secrets.ts';
import { readCsv } from '../platform/csv.ts';
import {
	MAX_NAME_CHARACTERS,
	type PriceRules,
	ROUTER_FIELDS,
	type RouterTexts,
	cut,
	nameAfter,
	readRouterFields,
	visible
} from './router-fields.ts';
import type { Insertable } from 'kysely';
import {
	type NamedRouter,
	buildRow,
	chooseAccess,
	findByExternalIds,
	lockOwner,
	recordPrices
} from './edit-router.ts';
import type { RouterRow } from './routers.ts';
import type { Schema } from '../db/schema.ts';
import { type Offers, findUnheldOffer } from '../offers.ts';
import type { Base } from '../base.ts';
import type { Tx } from '../db/database.ts';
import { type FieldProblem, refuse, refuseFields } from '../platform/errors.ts';
import { parseOffers } from './offer-list.ts';

/**
 * Routers from an owner's file. All good rows are stored in one transaction or none; the same file changes nothing
 * the second time, because each row has an id of its owner or one of its content.
 */

export const IMPORT_FIELDS = ['id', ...ROUTER_FIELDS] as const;

export type ImportField = (typeof IMPORT_FIELDS)[number];

export type ColumnMap = ReadonlyMap<ImportField, string>;

export interface ImportedRouter extends NamedRouter {
	/** The owner's id, or one derived from the row's content. */
	externalId: string;
}

export interface RowRemark {
	/** The first line of the row; the header is line 1. */
	line: number;
	text: string;
}

interface RowSettings extends PriceRules {
	/** null: the file names its columns as the fields, and ignores others. */
	columns: ColumnMap | null;
	/** Price per hour in minor units, for rows without one. */
	priceMinor: number | null;
}

const MAX_ID_CHARACTERS = 100;
const DERIVED_ID_CHARACTERS = 32;

/**
 * Reads a file.
 * @param chunks UTF-8, with or without byte order mark
 * @param onProblem receives the bad rows
 * @returns the routers of the valid rows, notes about corrections to them, and the number of bad rows
 * @throws Refused if the whole file is unusable, for example if a column is missing
 */
export async function readRouters(
	chunks: Iterable<Buffer> | AsyncIterable<Buffer>,
	settings: RowSettings,
	onProblem: (problem: RowRemark) => void
): Promise<{ routers: ImportedRouter[]; notes: RowRemark[]; badRows: number }> {
	const routers: ImportedRouter[] = [];
	const notes: RowRemark[] = [];
	const earlier = { lineOfId: new Map<string, number>(), countOfContent: new Map<string, number>() };
	let columnOf = new Map<ImportField, number>();
	let badRows = 0;
	await readCsv(chunks, {
		header(columns) {
			columnOf = columnIndexes(settings.columns ?? columnsByName(columns, settings.priceMinor), columns);
		},
		row(cells, line) {
			const textOf = (field: ImportField) => {
				const index = columnOf.get(field);
				return index === undefined ? undefined : (cells[index] ?? '');
			};
			const { router, reasons, corrections } = readRow(textOf, line, settings, earlier);
			if (router) {
				routers.push(router);
				notes.push(...corrections.map((text) => ({ line, text })));
			} else {
				badRows += 1;
				for (const text of reasons) onProblem({ line, text });
			}
		},
		problem(line, text) {
			badRows += 1;
			onProblem({ line, text });
		}
	});
	return { routers, notes, badRows };
}

/** The fields without which no router can be read. */
export const NEEDED_FIELDS = ['ssid', 'lat', 'lon'] as const;

function columnsByName(header: string[], priceMinor: number | null): ColumnMap {
	const columns = header.map((name) => name.trim());
	const map = new Map<ImportField, string>();
	for (const field of IMPORT_FIELDS) {
		const column = columns.find((name) => name.toLowerCase() === field);
		if (column !== undefined) map.set(field, column);
	}
	const missing = NEEDED_FIELDS.filter((field) => !map.has(field));
	if (missing.length > 0) throw refuse(`The file has no column ${missing.join(', ')}.`);
	if (priceMinor === null && !map.has('price')) {
		throw refuse('The file has no column price. Enter a price for all its routers.');
	}
	return map;
}

function columnIndexes(map: ColumnMap, header: string[]): Map<ImportField, number> {
	const columns = header.map((name) => name.trim());
	const columnOf = new Map<ImportField, number>();
	for (const [field, column] of map) {
		const index = columns.indexOf(column);
		if (index === -1) {
			throw refuse(`The file has no column "${column}" (for ${field}). Its columns: ${columns.join(', ')}.`);
		}
		if (columns.includes(column, index + 1)) {
			throw refuse(`The file has more than one column "${column}" (for ${field}).`);
		}
		columnOf.set(field, index);
	}
	return columnOf;
}

interface EarlierRows {
	lineOfId: Map<string, number>;
	/** Rows without an id, by a hash of their content. */
	countOfContent: Map<string, number>;
}

/** @param textOf returns undefined for a field without a column. @returns no router if there are reasons against it */
function readRow(
	textOf: (field: ImportField) => string | undefined,
	line: number,
	settings: RowSettings,
	earlier: EarlierRows
): { router: ImportedRouter | null; reasons: string[]; corrections: string[] } {
	const texts: RouterTexts = {};
	for (const field of ROUTER_FIELDS) {
		const text = textOf(field);
		if (text !== undefined) texts[field] = text;
	}
	const fixedPrice = visible(texts.price) === '' ? settings.priceMinor : null;
	if (fixedPrice !== null) delete texts.price;
	const corrections: string[] = [];
	const note = (field: string, text: string) => void corrections.push(`${field} ${text}`);

	const idText = textOf('id');
	const id = idText === undefined ? null : visible(idText);
	const reasons = id === null ? [] : idProblems(id, line, earlier);
	const {
		name,
		access_kind: kind,
		...read
	} = readRouterFields(texts, settings, (_field, reason) => reasons.push(reason), note);
	if (read.security === 'nopass' && kind !== undefined && kind !== 'portal_login') {
		reasons.push(`access kind "${kind}" on an open network: only portal_login works there`);
	}
	const { ssid, lat, lon, price_minor = fixedPrice } = read;
	const isRead = ssid !== undefined && lat !== undefined && lon !== undefined && price_minor !== null;
	if (reasons.length > 0 || !isRead) return { router: null, reasons, corrections };

	const otherName = nameAfter(read.address, ssid);
	const stated: NamedRouter['stated'] = {
		...{ ...read, ssid, lat, lon, price_minor, currency: settings.currency },
		...(name === undefined ? {} : { name: name || cut(otherName, MAX_NAME_CHARACTERS, 'name', note) }),
		...(kind !== undefined && { access_kind: kind })
	};
	const fallbackName = [...otherName].slice(0, MAX_NAME_CHARACTERS).join('');
	const externalId = id ?? contentId({ stated, fallbackName }, earlier);
	return { router: { externalId, stated, fallbackName }, reasons, corrections };
}

/** Notes the line of a good id. */
function idProblems(id: string, line: number, { lineOfId }: EarlierRows): string[] {
	const before = lineOfId.get(id);
	if (id === '') return ['no id'];
	if (id.length > MAX_ID_CHARACTERS) return [`id is longer than ${MAX_ID_CHARACTERS} characters`];
	if (before !== undefined) return [`duplicate id "${id}", already on line ${before}`];
	lineOfId.set(id, line);
	return [];
}

/** Equal rows differ by their order, so that a second import finds the same routers. */
function contentId(
	{ stated, fallbackName }: Pick<ImportedRouter, 'stated' | 'fallbackName'>,
	{ countOfContent }: EarlierRows
): string {
	const { ssid, lat, lon, name } = stated;
	const content = sha256(JSON.stringify([ssid.trim(), lat, lon, name ?? fallbackName]));
	const ordinal = (countOfContent.get(content) ?? 0) + 1;
	countOfContent.set(content, ordinal);
	return `row:${content.slice(0, DERIVED_ID_CHARACTERS)}:${ordinal}`;
}

/** Few round trips, and far below the limit of parameters. */
const CHUNK_ROWS = 500;

interface ImportContext extends Pick<Base, 'database' | 'clock' | 'config'> {
	offers: Offers;
}

interface ImportResult {
	added: number;
	changed: number;
	unchanged: number;
}

/** Returns the result of an import that stores nothing. @throws Refused as `importRouters` does */
export async function previewImport(...[context, ownerId, routers]: Parameters<typeof importRouters>) {
	const rollBack = new Error('The import was a preview');
	let preview: ImportResult | null = null;
	const finish = (_trx: Tx, result: ImportResult) => {
		preview = result;
		return Promise.reject(rollBack);
	};
	try {
		return await importRouters(context, ownerId, routers, finish);
	} catch (problem) {
		if (problem === rollBack && preview) return preview;
		throw problem;
	}
}

/**
 * Stores all routers or none. Safe to repeat, and to run beside another import of the same routers.
 * @throws Refused if offers of known routers do not fit the new values
 * @param finish joins the transaction when all routers are stored
 */
export async function importRouters(
	context: ImportContext,
	ownerAccountId: number,
	routers: readonly ImportedRouter[],
	finish?: (trx: Tx, result: ImportResult) => Promise<void>
): Promise<ImportResult> {
	return context.database.transact(async (trx) => {
		await lockOwner(trx, ownerAccountId);
		const result = { added: 0, changed: 0, unchanged: 0 };
		for (let start = 0; start < routers.length; start += CHUNK_ROWS) {
			await importChunk(context, trx, ownerAccountId, routers.slice(start, start + CHUNK_ROWS), result);
		}
		await finish?.(trx, result);
		return result;
	});
}

/** @param result counts the routers */
async function importChunk(
	{ clock, config, offers }: ImportContext,
	trx: Tx,
	owner_account_id: number,
	routers: readonly ImportedRouter[],
	result: ImportResult
): Promise<void> {
	const ids = routers.map(({ externalId }) => externalId);
	const known = await findByExternalIds(trx, owner_account_id, ids);
	const rows: Insertable<Schema['routers']>[] = [];
	const prices: Parameters<typeof recordPrices>[1][number][] = [];
	const problems: FieldProblem[] = [];
	const now = clock.now();
	for (const router of routers) {
		const { externalId: external_id, stated } = router;
		const row = known.get(external_id);
		const isUnchanged = row && !differs(row, router);
		result[isUnchanged ? 'unchanged' : row ? 'changed' : 'added'] += 1;
		if (isUnchanged) continue;
		if (row) problems.push(...(await offerProblems(trx, row, router, offers)));
		if (row && row.price_minor !== stated.price_minor) {
			prices.push({ router: row, priceMinor: stated.price_minor, accountId: null, keyId: null, now });
		}
		const payment_methods = row?.payment_methods ?? JSON.stringify(config.paymentMethods);
		rows.push({ ...buildRow(router, row, now), external_id, owner_account_id, payment_methods });
	}
	if (problems.length > 0) throw refuseFields(...problems);
	await recordPrices(trx, prices);
	if (rows.length === 0) return;
	await trx
		.insertInto('routers')
		.values(rows)
		.onConflict((conflict) =>
			conflict
				.columns(['owner_account_id', 'external_id'])
				.doUpdateSet((row) =>
					Object.fromEntries(
						[...STATED_COLUMNS, 'updated_at' as const].map((name) => [name, row.ref(`excluded.${name}`)])
					)
				)
		)
		.execute();
}

/** The columns that an import can change. */
const STATED_COLUMNS = [
	...(['name', 'address', 'ssid', 'hidden', 'security', 'access_kind', 'lat', 'lon'] as const),
	...(['price_minor', 'currency', 'status'] as const)
];

const differs = (known: RouterRow, { stated }: ImportedRouter): boolean =>
	STATED_COLUMNS.some((column) => stated[column] !== undefined && stated[column] !== known[column]);

/** Lists what the offers of a known router forbid. */
async function offerProblems(trx: Tx, known: RouterRow, router: ImportedRouter, offers: Offers) {
	const problems: FieldProblem[] = [];
	const report = (field: ImportField | 'currency', reason: string) => problems.push({ field, reason });
	const access = chooseAccess(router, known);
	const isKept = access.access_kind === known.access_kind;
	const problem = isKept
		? null
		: await findUnheldOffer(offers, trx, { ...known, ...access }, { router: known });
	if (problem !== null) report('access_kind', problem);
	const { currency } = router.stated;
	if (parseOffers(known.offers).length > 0 && currency !== known.currency) {
		const prices = `its offers have prices in ${known.currency}, not ${currency}`;
		report('currency', `router ${known.id}: ${prices}; its owner deletes them first, on the router's page`);
	}
	return problems;
}
