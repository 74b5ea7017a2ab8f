import { readAmount, toMajor } from '#lib/domain/money.ts';
import { LIMITS } from '#lib/domain/offers/offer-limits.ts';
import { type OffersUpdateBody, type OwnerOfferListBody, offersUpdate } from '../contract/offer.ts';
import { describeIssue } from '../contract/problems.ts';
import { validationFailed } from '../platform/errors.ts';

/** The columns of a CSV file; their names and units are those of the API. */
export const OFFER_COLUMNS = [
	...(['name', 'duration', 'price'] as const),
	...LIMITS,
	...(['days', 'from', 'until', 'active'] as const)
] as const;

export type OfferColumn = (typeof OFFER_COLUMNS)[number];

/** An offer as typed. An empty text is no limit; `days` are separated by spaces, `active` is yes or no. */
export type OfferCells = Readonly<Record<OfferColumn, string>>;

/**
 * Reads a list of offers from typed texts.
 * @throws AppError `validation_failed`; a pointer is `/offers/N/COLUMN`, where N counts from 0
 */
export function offersOfCells(
	rows: readonly OfferCells[],
	list: Pick<OffersUpdateBody, 'hourly' | 'max_duration' | 'version'>,
	currency: string
): OffersUpdateBody {
	const sent = { ...list, offers: rows.map((row) => valuesOf(row, currency)) };
	const read = offersUpdate.safeParse(sent);
	if (read.success) return read.data;
	throw validationFailed(read.error.issues.flatMap((issue) => describeIssue('body', issue, sent)));
}

/** Leaves unreadable text as it is, so that the schema names its field. */
const valuesOf = (cells: OfferCells, currency: string) => ({
	name: cells.name.trim(),
	duration: cells.duration.trim(),
	price: readPrice(cells.price, currency),
	...Object.fromEntries(LIMITS.map((limit) => [limit, numberOf(cells[limit])])),
	days: cells.days.trim() === '' ? null : cells.days.trim().toLowerCase().split(/\s+/),
	from: cells.from.trim() || null,
	until: cells.until.trim() || null,
	active: ACTIVE.get(cells.active.trim().toLowerCase()) ?? cells.active
});

function readPrice(text: string, currency: string): number | string {
	const minor = readAmount(text, currency);
	return typeof minor === 'number' ? toMajor(minor, currency) : text;
}

const ACTIVE: ReadonlyMap<string, boolean> = new Map([
	['', true],
	['yes', true],
	['no', false]
]);

function numberOf(text: string): number | string | null {
	const digits = text.trim();
	if (digits === '') return null;
	return /^\d{1,12}$/.test(digits) ? Number(digits) : digits;
}

export function cellsOf(offer: OwnerOfferListBody['data'][number]): OfferCells {
	const values = { ...offer, days: offer.days?.join(' '), active: offer.active ? 'yes' : 'no' };
	return Object.fromEntries(OFFER_COLUMNS.map((name) => [name, String(values[name] ?? '')])) as OfferCells;
}
