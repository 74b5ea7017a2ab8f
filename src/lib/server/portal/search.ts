import { readAmount, toMajor } from '#lib/domain/money.ts';
import { amountProblem } from '#lib/format/text.ts';
import { apart } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';
import type { Position } from '#lib/domain/geo.ts';
import { MAX_QUERY_LENGTH, parsePosition, positionOf } from '#lib/map/position.ts';

/** A search of the list from the address. Invalid values are explained, not refused. */
export interface Search {
	position: Position;
	/** The visitor chose the position; otherwise it is the installation's centre. */
	given: boolean;
	text: string;
	problem: string | null;
	/** Text that may be a place name; null for a position or an empty search. */
	name: string | null;
	/** Metres; null: as far as needed to find routers on sale. */
	radius: number | null;
	filters: Filters;
	/** Number of routers on the page. */
	show: number;
}

/** `max`: highest price on a card, in major units. */
interface Filters {
	open: boolean;
	max: number | null;
	/** `max` as typed, and why it is no price. */
	typedMax: string;
	maxProblem: string | null;
}

export const PAGE_SIZE = 12;
/** A longer list is searched by location. */
export const MAX_SHOWN = 8 * PAGE_SIZE;

/** Metres: around the corner, across town, the whole region. */
export const RADII: readonly number[] = [1_000, 5_000, 50_000];
/** A typed position in Kampala. */
const EXAMPLE = '0.3476, 32.5825';

const DECIMAL = /^[-+]?\d{1,3}(\.\d{1,20})?$/;

const degrees = (text: string | null) => (DECIMAL.test(text ?? '') ? Number(text) : Number.NaN);

export function readSearch(
	parameters: URLSearchParams,
	{ centre, currency }: { centre: Position; currency: string }
): Search {
	const query = (parameters.get('place') ?? '').trim();
	const lat = parameters.get('lat');
	const lon = parameters.get('lon');
	const radius = Number(parameters.get('radius'));
	const show = Number(parameters.get('show'));

	let position: Position | null = null;
	let problem: string | null = null;
	let name: string | null = null;
	if (lat !== null || lon !== null) {
		position = positionOf(degrees(lat), degrees(lon));
		if (!position) problem = m.list_not_on_globe({ example: apart(EXAMPLE) });
	} else if (query !== '') {
		position = parsePosition(query);
		if (!position) {
			problem = m.list_no_such_place({ example: apart(EXAMPLE) });
			name = query;
		}
	}
	return {
		position: position ?? centre,
		given: position !== null,
		text: query === '' && position ? `${position.lat}, ${position.lon}` : query.slice(0, MAX_QUERY_LENGTH),
		problem,
		name,
		radius: RADII.includes(radius) ? radius : null,
		filters: readFilters(parameters, currency),
		show: show > 0 && show <= MAX_SHOWN && show % PAGE_SIZE === 0 ? show : PAGE_SIZE
	};
}

export function readFilters(parameters: URLSearchParams, currency: string): Filters {
	const open = parameters.get('open') === '1';
	const typedMax = (parameters.get('max') ?? '').trim().slice(0, MAX_QUERY_LENGTH);
	if (typedMax === '') return { open, max: null, typedMax, maxProblem: null };
	const amount = readAmount(typedMax, currency);
	const minor = typeof amount === 'number' && amount < 0 ? 'not_a_number' : amount;
	return typeof minor === 'number'
		? { open, max: toMajor(minor, currency), typedMax, maxProblem: null }
		: { open, max: null, typedMax, maxProblem: amountProblem(minor, typedMax, currency) };
}

/** @param price on the card of the router, in major units */
export const passes = ({ open, max }: Filters, { price, isOnline }: { price: number; isOnline: boolean }) =>
	(isOnline || !open) && (max === null || price <= max);

export const filterQuery = ({ open, max }: Filters): Record<string, string> => ({
	...(open && { open: '1' }),
	...(max !== null && { max: String(max) })
});
