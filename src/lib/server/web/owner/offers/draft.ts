import { ownDuration } from '#lib/purchase/quote.ts';
import {
	durationSeconds,
	formatDuration,
	MAX_DURATION,
	NEW_HOURLY_MAX,
	parseDuration
} from '#lib/domain/duration.ts';
import type { OfferEntry, OffersDraft } from '#lib/domain/offers/entry.ts';
import { type OfferCells, formatCells } from '#lib/server/offers.ts';
import type { readFields } from '../../form.ts';

export const MAX_ROWS = 20;
const EMPTY_ROWS = 5;
/** A usual price list: minutes, an hour, a day, a week, 30 days. */
const EMPTY_UNITS = ['m', 'h', 'd', 'w', 'd'];

type Fields = Awaited<ReturnType<typeof readFields>>;

export const emptyRow = (index: number): OfferEntry => ({
	...{ name: '', count: '', unit: EMPTY_UNITS[index] ?? 'd', price: '', devices: '' },
	...{ down: '', up: '', data: '', days: [], from: '', until: '', active: true }
});

/** Adds rows to type into: five in an empty list, otherwise one. */
export function withEmptyRows(rows: readonly OfferEntry[]): OfferEntry[] {
	const count = Math.min(MAX_ROWS, rows.length === 0 ? EMPTY_ROWS : rows.length + 1);
	return Array.from({ length: count }, (_, index) => rows[index] ?? emptyRow(rows.length === 0 ? index : -1));
}

export function readDraft({ field, all }: Pick<Fields, 'field' | 'all'>): OffersDraft {
	const count = /^\d{1,2}$/.test(field('rows')) ? Math.min(Number(field('rows')), MAX_ROWS) : 0;
	const rows = Array.from({ length: count }, (_, n): OfferEntry => {
		const text = (name: keyof OfferEntry) => field(`${name}-${n}`).trim();
		return {
			...{ name: text('name'), count: text('count'), unit: text('unit'), price: text('price') },
			...{ devices: text('devices'), down: text('down'), up: text('up'), data: text('data') },
			...{ days: all(`days-${n}`), from: text('from'), until: text('until') },
			active: text('active') === 'yes'
		};
	});
	return {
		...{ hourly: field('hourly') === 'yes', long: field('long') === 'yes' },
		...{ version: Number(field('version')) || 0, rows }
	};
}

/** Does what a button of the form says: `add`, `delete-2`. */
export function changedRows(rows: readonly OfferEntry[], button: string): readonly OfferEntry[] {
	if (button === 'add') return rows.length < MAX_ROWS ? [...rows, emptyRow(-1)] : rows;
	const deleted = /^delete-(\d{1,2})$/.exec(button)?.[1];
	return rows.filter((_, index) => String(index) !== deleted);
}

/** Rows in which nothing is typed are left out. `rowIndexes` has the row of each offer. */
export function cellsOfDraft({ rows }: Pick<OffersDraft, 'rows'>): {
	cells: OfferCells[];
	rowIndexes: number[];
} {
	const rowIndexes = rows.flatMap((row, index) => (isEmpty(row) ? [] : [index]));
	return { rowIndexes, cells: rows.filter((row) => !isEmpty(row)).map(cellsOfEntry) };
}

const isEmpty = ({ name, count, price, devices, down, up, data }: OfferEntry) =>
	[name, count, price, devices, down, up, data].every((text) => text === '');

function cellsOfEntry(row: OfferEntry): OfferCells {
	const duration = ownDuration(row.count, row.unit) ?? `${row.count}${row.unit}`;
	return {
		...{ name: row.name || formatDuration(duration), duration, price: row.price },
		...{ max_devices: row.devices, speed_down_kbps: thousands(row.down), speed_up_kbps: thousands(row.up) },
		...{ data_limit_mb: thousands(row.data), days: row.days.join(' '), from: row.from, until: row.until },
		active: row.active ? 'yes' : 'no'
	};
}

/** Converts "0.5" Mbit/s to "500" kbit/s. Leaves other text as it is, so that it is refused. */
function thousands(text: string): string {
	const number = text.replace(',', '.');
	return /^\d{1,9}(\.\d{1,3})?$/.test(number) ? String(Math.round(Number(number) * 1000)) : text;
}

export function entryOf(cells: OfferCells): OfferEntry {
	const duration = parseDuration(cells.duration);
	const fromThousands = (text: string) => (/^\d+$/.test(text) ? String(Number(text) / 1000) : text);
	return {
		// An empty name follows the time when that changes.
		name: cells.name === formatDuration(cells.duration) ? '' : cells.name,
		...{ count: String(duration?.count ?? cells.duration), unit: duration?.unit ?? 'd' },
		...{ price: cells.price, devices: cells.max_devices },
		...{ down: fromThousands(cells.speed_down_kbps), up: fromThousands(cells.speed_up_kbps) },
		...{ data: fromThousands(cells.data_limit_mb), days: cells.days.split(' ').filter(Boolean) },
		...{ from: cells.from, until: cells.until, active: cells.active !== 'no' }
	};
}

export const sellsLong = ({ max_duration }: { max_duration: string }): boolean =>
	durationSeconds(max_duration) > durationSeconds(NEW_HOURLY_MAX);

/** Keeps a limit that the API has set, unless the box was ticked or unticked. */
export function maxDurationOf({ long }: OffersDraft, router: { max_duration: string }): string {
	if (long === sellsLong(router)) return router.max_duration;
	return long ? MAX_DURATION : NEW_HOURLY_MAX;
}

export const draftOf = (list: {
	hourly: boolean;
	max_duration: string;
	version: number;
	data: readonly Parameters<typeof formatCells>[0][];
}): OffersDraft => ({
	...{ hourly: list.hourly, long: sellsLong(list), version: list.version },
	rows: withEmptyRows(list.data.map((offer) => entryOf(formatCells(offer))))
});
