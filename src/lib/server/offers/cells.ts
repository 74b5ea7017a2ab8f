import { parseAmount } from '#lib/domain/money.ts';
import { offersUpdate, type OffersUpdateBody, type OwnerOfferListBody } from '../api/contract/schemas.ts';
import { itemsOf } from '../api/contract/validation.ts';
import { validationFailed } from '../platform/errors.ts';

/** The columns of a CSV file; their names and units are those of the API. */
export const OFFER_COLUMNS = [
	...(['name', 'duration', 'price', 'max_devices', 'speed_down_kbps', 'speed_up_kbps'] as const),
	...(['data_limit_mb', 'days', 'from', 'until', 'active'] as const)
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
	list: Pick<OffersUpdateBody, 'hourly' | 'version'>
): OffersUpdateBody {
	const sent = { ...list, offers: rows.map(valuesOf) };
	const read = offersUpdate.safeParse(sent);
	if (read.success) return read.data;
	throw validationFailed(read.error.issues.flatMap((issue) => itemsOf('body', issue, sent)));
}

/** Leaves unreadable text as it is, so that the schema names its field. */
const valuesOf = (cells: OfferCells) => ({
	name: cells.name.trim(),
	duration: cells.duration.trim(),
	price: parseAmount(cells.price) ?? cells.price,
	max_devices: numberOf(cells.max_devices),
	speed_down_kbps: numberOf(cells.speed_down_kbps),
	speed_up_kbps: numberOf(cells.speed_up_kbps),
	data_limit_mb: numberOf(cells.data_limit_mb),
	days: cells.days.trim() === '' ? null : cells.days.trim().toLowerCase().split(/\s+/),
	from: cells.from.trim() || null,
	until: cells.until.trim() || null,
	active: ACTIVE.get(cells.active.trim().toLowerCase()) ?? cells.active
});

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

export const cellsOf = (offer: OwnerOfferListBody['data'][number]): OfferCells => ({
	name: offer.name,
	duration: offer.duration,
	price: String(offer.price),
	max_devices: String(offer.max_devices ?? ''),
	speed_down_kbps: String(offer.speed_down_kbps ?? ''),
	speed_up_kbps: String(offer.speed_up_kbps ?? ''),
	data_limit_mb: String(offer.data_limit_mb ?? ''),
	days: offer.days?.join(' ') ?? '',
	from: offer.from ?? '',
	until: offer.until ?? '',
	active: offer.active ? 'yes' : 'no'
});
