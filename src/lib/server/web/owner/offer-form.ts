import { boundsText, formatOfferTerms, ownDuration } from '#lib/purchase/quote.ts';
import {
	MAX_DURATION,
	NEW_HOURLY_MAX,
	durationSeconds,
	formatDuration,
	parseDuration
} from '#lib/domain/time.ts';
import {
	LIMITS,
	type Limit,
	type OfferEntry,
	type OfferField,
	type OffersDraft
} from '#lib/domain/offers.ts';
import {
	type OfferCells,
	type OfferColumn,
	checkOffers,
	findUnheldLimits,
	formatCells,
	readCells,
	readOwnOffers,
	replaceOffers
} from '#lib/server/offers.ts';
import { readFields } from '../form.ts';
import { type RequestEvent, fail, redirect } from '@sveltejs/kit';
import { priceForSeconds, readAmount, toMajor, toMinor } from '#lib/domain/money.ts';
import { WEEKDAYS } from '#lib/domain/opening-hours.ts';
import { amountProblem, money, weekdayName } from '#lib/format/text.ts';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { Refused, attempt } from '#lib/server/platform/errors.ts';
import { type OwnedRouter, listOwnedRouters } from '../../routers/routers.ts';
import { idOf } from '../page-links.ts';
import type { OwnerVisitor } from './owner.ts';
import { changePrice } from '#lib/server/routers/edit-router.ts';
import { readTypedPrice } from './router.ts';
import { plainText } from '#lib/domain/text.ts';
import { apart, numberText, separatorsOf } from '#lib/i18n/intl.ts';
import type { ProblemItem } from '#lib/server/contract/problems.ts';
import { type RegisteredGateway, findGatewaysOfRouters } from '#lib/server/gateways/gateways.ts';
import { computeMaxSpeedKbps } from '#lib/server/gateways/gateway.ts';
import type { OffersUpdateBody } from '#lib/server/contract/offer.ts';
import type { App } from '#lib/server/app.ts';

/**
 * The owner's form of the offers of a router: rows to type into, and copies to other routers. Only `save` and `copy`
 * change offers.
 */

const MAX_ROWS = 20;
const EMPTY_ROWS = 5;
/** A usual price list: minutes, an hour, a day, a week, 30 days. */
const EMPTY_UNITS = ['m', 'h', 'd', 'w', 'd'];

type Fields = Awaited<ReturnType<typeof readFields>>;

const emptyRow = (index: number): OfferEntry => ({
	...{ name: '', count: '', unit: EMPTY_UNITS[index] ?? 'd', price: '', devices: '' },
	...{ down: '', up: '', data: '', days: [], from: '', until: '', active: true }
});

/** Adds rows to type into: five in an empty list, otherwise one. */
function withEmptyRows(rows: readonly OfferEntry[]): OfferEntry[] {
	const count = Math.min(MAX_ROWS, rows.length === 0 ? EMPTY_ROWS : rows.length + 1);
	return Array.from({ length: count }, (_, index) => rows[index] ?? emptyRow(rows.length === 0 ? index : -1));
}

function readDraft({ field, all }: Pick<Fields, 'field' | 'all'>): OffersDraft {
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
function changedRows(rows: readonly OfferEntry[], button: string): readonly OfferEntry[] {
	if (button === 'add') return rows.length < MAX_ROWS ? [...rows, emptyRow(-1)] : rows;
	const deleted = /^delete-(\d{1,2})$/.exec(button)?.[1];
	return rows.filter((_, index) => String(index) !== deleted);
}

/** Rows in which nothing is typed are left out. `rowIndexes` has the row of each offer. */
function cellsOfDraft({ rows }: Pick<OffersDraft, 'rows'>): {
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
	const { group, decimal } = separatorsOf();
	const plain = plainText(text).replace('٫', '.');
	// Three digits after a mark are thousands or decimals, as the page writes them.
	const [, mark] = /^[1-9]\d{0,2}([., ])\d{3}$/.exec(plain) ?? [];
	const isGroup = mark === ' ' || mark === group;
	if (mark !== undefined && !isGroup && mark !== decimal) return text;
	const number = isGroup ? plain.replace(mark, '') : plain.replace(',', '.');
	return /^\d{1,9}(\.\d{1,3})?$/.test(number) ? String(Math.round(Number(number) * 1000)) : text;
}

function entryOf(cells: OfferCells): OfferEntry {
	const duration = parseDuration(cells.duration);
	const fromThousands = (text: string) =>
		/^\d+$/.test(text) ? String(Number(text) / 1000).replace('.', separatorsOf().decimal) : text;
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

const sellsLong = ({ max_duration }: { max_duration: string }): boolean =>
	durationSeconds(max_duration) > durationSeconds(NEW_HOURLY_MAX);

/** Keeps a limit that the API has set, unless the box was ticked or unticked. */
function maxDurationOf({ long }: OffersDraft, router: { max_duration: string }): string {
	if (long === sellsLong(router)) return router.max_duration;
	return long ? MAX_DURATION : NEW_HOURLY_MAX;
}

const draftOf = (list: {
	hourly: boolean;
	max_duration: string;
	version: number;
	data: readonly Parameters<typeof formatCells>[0][];
}): OffersDraft => ({
	...{ hourly: list.hourly, long: sellsLong(list), version: list.version },
	rows: withEmptyRows(list.data.map((offer) => entryOf(formatCells(offer))))
});

type Actor = OwnerVisitor['actor'];

/** The page after a button. */
interface Shown {
	draft: OffersDraft | null;
	/** Above the form. */
	problem: string | null;
	/** By row and field. */
	errors: Readonly<Record<number, Partial<Record<OfferField, string>>>>;
	/** The result for each router to which the offers were copied. */
	copied: readonly { name: string; text: string; isDone: boolean }[];
}

const NOTHING: Shown = { draft: null, problem: null, errors: {}, copied: [] };
const DAY_SECONDS = 24 * 60 * 60;
/** Routers to which offers can be copied at once. */
const MAX_COPIES = 100;

export async function offersPage(
	{ url, locals: { app } }: RequestEvent,
	router: OwnedRouter,
	owner: OwnerVisitor
) {
	const list = await readOwnOffers(app.offers, owner.actor, router.id);
	const others = await otherRouters(app, owner.actor, router.id);
	const draft = draftOf(list);
	const isNew = list.data.length === 0;
	return {
		id: router.id,
		name: router.name,
		currency: router.currency,
		perHour: money(router.price, router.currency),
		limit: formatDuration(NEW_HOURLY_MAX),
		longDay: money(
			toMajor(priceForSeconds(toMinor(router.price, router.currency) ?? 1, DAY_SECONDS), router.currency),
			router.currency
		),
		draft: isNew ? draftWithSet(draft, url.searchParams.get('set'), router) : draft,
		sets: isNew ? await setsOf(app, owner, draft, router) : [],
		saved: list.data.length,
		days: WEEKDAYS.map((day, index) => ({ day, name: weekdayName(index) })),
		others: others.map(({ id, name }) => ({ id, name })),
		done: url.searchParams.has('done')
	};
}

/** Does what the pressed button says. Only `save` and `copy` change offers. */
export async function offersAction(event: RequestEvent, router: OwnedRouter, { actor }: OwnerVisitor) {
	const fields = await readFields(event.request);
	const button = fields.field('do');
	if (button === 'copy') return copyOffers(event, router, { actor, ids: fields.all('router').map(idOf) });
	const draft = readDraft(fields);
	if (button !== 'save') {
		return { ...NOTHING, draft: { ...draft, rows: changedRows(draft.rows, button) } };
	}
	const { offers } = event.locals.app;
	try {
		const { hourly, version } = draft;
		const max_duration = maxDurationOf(draft, router);
		const { cells } = cellsOfDraft(draft);
		const list = readCells(cells, { hourly, max_duration, version }, router.currency);
		await replaceOffers(offers, actor, router.id, list);
	} catch (refused) {
		if (!(refused instanceof Refused)) throw refused;
		if (refused.reason !== 'offers_changed')
			return fail(400, refusal(refused, draft, await placeOf(event, router)));
		const current = await readOwnOffers(offers, actor, router.id);
		const isSame =
			JSON.stringify(current.data.map(formatCells)) === JSON.stringify(cellsOfDraft(draft).cells);
		// Otherwise somebody else changed them; if they are the same, the form was sent twice.
		if (!isSame || current.hourly !== draft.hourly || sellsLong(current) !== draft.long) {
			const problem = m.owner_offers_moved();
			return fail(409, { ...NOTHING, draft: { ...draft, version: current.version }, problem });
		}
	}
	redirect(303, `${link(`/owner/routers/${router.id}/offers`)}?done`);
}

const placeOf = async ({ locals: { app } }: RequestEvent, router: OwnedRouter): Promise<OfferPlace> => ({
	router,
	gateways: await findGatewaysOfRouters(app.gateways, [router.id])
});

function refusal({ items }: Refused, draft: OffersDraft, place: OfferPlace): Shown {
	const { cells, rowIndexes } = cellsOfDraft(draft);
	const errors: Record<number, Partial<Record<OfferField, string>>> = {};
	let problem: string | null = items ? null : m.owner_problem();
	for (const item of items ?? []) {
		const { index, field, text } = offerProblem(item, cells, place);
		const row = index === null ? undefined : rowIndexes[index];
		if (row === undefined || field === null) problem ??= text;
		else errors[row] = { [field]: text, ...errors[row] };
	}
	return { ...NOTHING, draft, errors, problem: problem ?? m.owner_check_fields() };
}

/** Copies the saved offers. Each router is checked on its own. */
async function copyOffers(
	event: RequestEvent,
	router: OwnedRouter,
	{ actor, ids }: { actor: Actor; ids: readonly number[] }
): Promise<Shown> {
	const { app } = event.locals;
	const { hourly, max_duration, data } = await readOwnOffers(app.offers, actor, router.id);
	const cells = data.map(formatCells);
	const list = readCells(cells, { hourly, max_duration }, router.currency);
	const copied: Shown['copied'][number][] = [];
	for (const other of (await otherRouters(app, actor, router.id)).filter(({ id }) => ids.includes(id))) {
		const { name } = other;
		const refused = await attempt(() => replaceOffers(app.offers, actor, other.id, list));
		if (!(refused instanceof Refused)) {
			copied.push({ name, text: m.owner_offers_copied({ name }), isDone: true });
		} else {
			const [item] = refused.items ?? [];
			const reason = item ? offerProblem(item, cells, await placeOf(event, other)).text : m.owner_problem();
			copied.push({ name, text: m.owner_offers_not_copied({ name, reason }), isDone: false });
		}
	}
	return { ...NOTHING, copied };
}

async function otherRouters({ routers }: App.Locals['app'], { accountId }: Actor, id: number) {
	const { data } = await listOwnedRouters(routers, accountId, { afterId: 0, limit: MAX_COPIES });
	return data.filter((router) => router.id !== id);
}

const moved = (price: number, currency: string) => m.owner_price_moved({ money: money(price, currency) });

export async function setPrice(event: RequestEvent, router: OwnedRouter, { actor }: OwnerVisitor) {
	const { app } = event.locals;
	const { currency, price: current } = router;
	const { field } = await readFields(event.request);
	const typed = field('price');
	const refused = (status: number, problem: string) => fail(status, { price: typed, problem });
	const read = readTypedPrice(typed, { currency, maxPrice: app.config.maxPrice });
	if ('problem' in read) return refused(400, read.problem);
	// Otherwise it is the price already: the form was sent twice.
	if (read.price !== current) {
		if (field('from') !== String(current)) return refused(409, moved(current, currency));
		try {
			await changePrice(app.routers, actor, router.id, read.price, current);
		} catch (refusal) {
			if (!(refusal instanceof Refused)) throw refusal;
			if (refusal.reason === 'price_moved')
				return refused(409, moved(Number(refusal.extensions['price']), currency));
			return refused(refusal.status, refusal.items?.[0]?.detail ?? refusal.message);
		}
	}
	redirect(303, link(`/owner/routers/${router.id}?done=price`));
}

const FIELDS: Record<OfferColumn, OfferField> = {
	...{ name: 'name', duration: 'count', price: 'price', max_devices: 'devices', speed_down_kbps: 'down' },
	...{ speed_up_kbps: 'up', data_limit_mb: 'data', days: 'days', from: 'from', until: 'until' },
	active: 'active'
};

interface OfferProblem {
	/** Index of the offer; null for the whole list. */
	index: number | null;
	field: OfferField | null;
	text: string;
}

interface OfferPlace {
	router: OwnedRouter;
	gateways: readonly RegisteredGateway[];
}

/** Describes a refused field to an owner. */
function offerProblem(item: ProblemItem, offers: readonly OfferCells[], place: OfferPlace): OfferProblem {
	const [, , index, name] = item.pointer.split('/');
	const column = name as OfferColumn | undefined;
	const cells = offers[Number(index)];
	if (column === undefined || !cells || !(column in FIELDS)) {
		const isUnsold = item.pointer === '/hourly';
		const text = isUnsold ? m.owner_offers_nothing() : m.owner_offers_too_many({ max: String(MAX_ROWS) });
		return { index: null, field: null, text };
	}
	return { index: Number(index), field: FIELDS[column], text: textOf(column, item, cells, place) };
}

function textOf(column: OfferColumn, { code }: ProblemItem, cells: OfferCells, place: OfferPlace) {
	const { router } = place;
	const isDuplicate = code === 'duplicate';
	switch (column) {
		case 'name':
			return isDuplicate ? m.owner_offers_same_name() : m.owner_offers_bad_name();
		case 'duration':
			return m.router_choose_from({ bounds: boundsText(router) });
		case 'price':
			return isDuplicate ? m.owner_offers_same() : priceText(cells.price, router.currency);
		case 'max_devices':
			return limitText(column, cells, place) ?? m.owner_offers_bad_devices();
		case 'speed_down_kbps':
		case 'speed_up_kbps':
		case 'data_limit_mb':
			return limitText(column, cells, place) ?? m.owner_offers_bad_number();
		case 'from':
		case 'until':
			return m.owner_offers_bad_hours();
		case 'days':
			return m.owner_csv_days({ example: apart(WEEKDAYS.slice(0, 2).join(' ')) });
		case 'active':
			return m.owner_csv_active({ yes: apart('yes'), no: apart('no') });
	}
}

/** Says why the router does not hold a limit; null if the limit itself is wrong. */
function limitText(limit: Limit, cells: OfferCells, { router, gateways }: OfferPlace): string | null {
	const limits = Object.fromEntries(
		LIMITS.flatMap((name) => (/^[1-9]\d{0,9}$/.test(cells[name]) ? [[name, Number(cells[name])]] : []))
	);
	const problem = findUnheldLimits(limits, router, gateways).find(({ field }) => field === limit);
	if (!problem) return null;
	const gateway = problem.gateway ? apart(`${problem.gateway.title} (${problem.gateway.name})`) : '';
	switch (problem.reason) {
		case 'shared_password':
			return limit === 'data_limit_mb' ? m.owner_offers_shared_data() : m.owner_offers_shared_devices();
		case 'no_gateway':
			return m.owner_offers_no_gateway();
		case 'no_limits_with_enterprise':
			return m.owner_offers_not_with({ gateway, access: m.owner_access_user_title() });
		case 'too_fast':
			return m.owner_offers_too_fast({ gateway, speed: numberText(mostMbit(problem.gateway)) });
		case 'needs_script':
			return m.owner_offers_needs_script({ gateway });
		case 'needs_address':
			return m.owner_offers_needs_address({ gateway });
		case 'one_device_only':
			return m.owner_offers_one_device({ gateway });
		case 'needs_enterprise':
		case 'unable':
			return m.owner_offers_unable({ gateway });
	}
}

function priceText(text: string, currency: string): string {
	const price = readAmount(text, currency);
	if (typeof price === 'string') return amountProblem(price, text, currency);
	return price <= 0 ? m.owner_price_not_number() : m.owner_offers_not_charged();
}

const mostMbit = (gateway: RegisteredGateway | null) => (gateway ? computeMaxSpeedKbps(gateway) / 1000 : 0);

interface SetOffer {
	count: number;
	unit: string;
	/** The price, as so many hours at the hourly price. */
	hours: number;
	/** GB */
	data?: number;
}

/** Longer times cost less per hour, as in usual price lists. */
const HOURS: readonly SetOffer[] = [
	{ count: 30, unit: 'm', hours: 0.6 },
	{ count: 1, unit: 'h', hours: 1 },
	{ count: 3, unit: 'h', hours: 2.5 }
];
const DAYS: readonly SetOffer[] = [
	{ count: 1, unit: 'd', hours: 5 },
	{ count: 1, unit: 'w', hours: 20 },
	{ count: 30, unit: 'd', hours: 60 }
];

const SETS: Record<string, { title: () => string; offers: readonly SetOffer[] }> = {
	hours: { title: m.owner_set_hours, offers: HOURS },
	days: { title: m.owner_set_days, offers: DAYS },
	data: {
		title: m.owner_set_data,
		offers: [
			{ count: 1, unit: 'd', hours: 2, data: 1 },
			{ count: 1, unit: 'w', hours: 8, data: 5 },
			{ count: 30, unit: 'd', hours: 25, data: 20 }
		]
	}
};

/** Rounds to two digits, so that prices are easy to pay: 2,500 and not 2,475. */
function roundPrice(minor: number): number {
	const step = 10 ** Math.max(0, Math.floor(Math.log10(minor)) - 1);
	return Math.max(1, Math.round(minor / step) * step);
}

/** Returns a draft with the offers of a set, or the same draft if there is no such set. */
function draftWithSet(
	draft: OffersDraft,
	name: string | null,
	{ price, currency }: OwnedRouter
): OffersDraft {
	const set = name !== null && Object.hasOwn(SETS, name) ? SETS[name] : undefined;
	if (!set) return draft;
	return { ...draft, rows: rowsOf(set.offers, toMinor(price, currency) ?? 1, currency) };
}

const rowsOf = (offers: readonly SetOffer[], hourMinor: number, currency: string): OfferEntry[] =>
	offers.map(({ count, unit, hours, data }) => ({
		...{ ...emptyRow(-1), count: String(count), unit, data: String(data ?? '') },
		price: String(toMajor(roundPrice(hourMinor * hours), currency))
	}));

/** The offers of a new router, unless its owner unticks them. */
const NEW_ROUTER = [...HOURS, ...DAYS];
const nameOf = ({ count, unit }: SetOffer): string => `${count}${unit}`;

export const newRouterOffers = () =>
	NEW_ROUTER.map((offer) => ({
		value: nameOf(offer),
		title: formatDuration(nameOf(offer)),
		text: m.owner_new_offer_price({ factor: numberText(offer.hours) })
	}));

/**
 * Gives a new router the chosen offers that one of its payment methods can charge. A list that its owner has changed
 * meanwhile stays as it is.
 * @param chosen `value` of `newRouterOffers`
 */
export async function setNewRouterOffers(
	{ offers }: App,
	{ actor }: OwnerVisitor,
	{ id, price_minor, currency }: { id: number; price_minor: number; currency: string },
	chosen: readonly string[]
): Promise<void> {
	const wanted = NEW_ROUTER.filter((offer) => chosen.includes(nameOf(offer)));
	const rows = rowsOf(wanted, price_minor, currency);
	const list = readCells(cellsOfDraft({ rows }).cells, { hourly: true, version: 0 }, currency);
	const payable: typeof list.offers = [];
	for (const offer of list.offers) {
		const checked = await attempt(() => checkOffers(offers, actor, id, { ...list, offers: [offer] }));
		if (!(checked instanceof Refused)) payable.push(offer);
	}
	await attempt(() => replaceOffers(offers, actor, id, { ...list, offers: payable }));
}

/** Describes offers as buyers see them. */
const linesOf = ({ offers }: OffersUpdateBody, { currency }: OwnedRouter) =>
	offers.map((offer) => ({
		...{ name: offer.name, terms: formatOfferTerms(offer), active: offer.active },
		money: money(offer.price, currency)
	}));

/** Lists the sets that a router without offers can sell. */
async function setsOf({ offers }: App, { actor }: OwnerVisitor, draft: OffersDraft, router: OwnedRouter) {
	const sets = await Promise.all(
		Object.entries(SETS).map(async ([name, { title }]) => {
			const { rows } = draftWithSet(draft, name, router);
			const { cells } = cellsOfDraft({ ...draft, rows });
			const list = readCells(cells, { hourly: draft.hourly }, router.currency);
			const lines = linesOf(list, router).map((line) =>
				m.map_router({ name: line.terms || line.name, price: line.money })
			);
			const checked = await attempt(() => checkOffers(offers, actor, router.id, list));
			return checked instanceof Refused ? null : { name, title: title(), lines };
		})
	);
	return sets.filter((set) => set !== null);
}
