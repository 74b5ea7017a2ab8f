import { readAmount, toMajor, toMinor } from '#lib/domain/money.ts';
import { LIMITS, type Limit, type Limits, limitsOf } from '#lib/domain/offers.ts';
import { plainText, readLine } from '#lib/domain/text.ts';
import { type OffersUpdateBody, type OwnerOfferListBody, offersUpdate } from './contract/offer.ts';
import type { Operators } from './billing/operators/registry.ts';
import type { Base } from './base.ts';
import type { Queries } from './db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { type Gateways, type RegisteredGateway, findGatewaysOfRouter } from './gateways/gateways.ts';
import { computeMaxSpeedKbps, explainUnheldData, explainUnheldSpeed } from './gateways/gateway.ts';
import { isoTime } from './platform/clock.ts';
import { validationFailed, Refused, refuseFields } from './platform/errors.ts';
import {
	type Offer,
	findLastOfferChange,
	formatOffers,
	isPayable,
	readOffers,
	saveOffers
} from './routers/offer-list.ts';
import { type PriceSetter, recordForOwner } from './routers/edit-router.ts';
import {
	type RouterRow,
	type Routers,
	findChangeableRouter,
	findRouterOrThrow,
	listPaymentMethods,
	lockRouter
} from './routers/routers.ts';
import { durationProblem } from '#lib/domain/time.ts';
import { type ProblemItem, describeIssue } from './contract/problems.ts';

/** The offers of routers, as their owners edit them. Orders read them through `routers`. */
export interface Offers extends Base {
	routers: Routers;
	gateways: Gateways;
	operators: Operators;
}

type Actor = Pick<Caller, 'accountId' | 'role'>;
/** `keyId` and `personId`: as for prices. */
type OfferSetter = Actor & Pick<PriceSetter, 'keyId' | 'personId' | 'reason'>;

/** Checks a new list without setting it. @throws Refused as `replaceOffers`, without `offers_changed` */
export function checkOffers(context: Offers, actor: Actor, routerId: number, list: OffersUpdateBody) {
	return findCheckedRouter(context, context.database.db, actor, { routerId, list });
}

/** @throws Refused `router_not_found | not_router_owner` */
export async function readOwnOffers(context: Offers, actor: Actor, routerId: number) {
	const { db } = context.database;
	return buildListBody(context, db, await findChangeableRouter(db, actor, routerId));
}

async function findCheckedRouter(
	context: Offers,
	queries: Queries,
	actor: Actor,
	{ routerId, list }: { routerId: number; list: OffersUpdateBody }
): Promise<RouterRow> {
	const { routers, gateways } = context;
	const router = await findChangeableRouter(queries, actor, routerId);
	const methods = listPaymentMethods(routers, router);
	const problems = findOfferProblems(list, {
		...{ router, gateways: await findGatewaysOfRouter(gateways, queries, routerId) },
		isPayable: (amountMinor) => isPayable(context, methods, amountMinor)
	});
	if (problems.length > 0) throw validationFailed(problems);
	return router;
}

/**
 * Replaces the offers of a router. Sessions that were ordered keep theirs.
 * @throws Refused `router_not_found | not_router_owner | offers_changed | validation_failed`
 */
export function replaceOffers(
	context: Offers,
	setter: OfferSetter,
	routerId: number,
	list: OffersUpdateBody
): Promise<OwnerOfferListBody> {
	const { database, clock, routers } = context;
	return database.transact(async (trx) => {
		// Before its gateways are read: they must go on to hold the limits of the offers.
		await lockRouter(trx, routerId);
		const router = await findCheckedRouter(context, trx, setter, { routerId, list });
		const { offers, lastOfferId } = assignIds(list, router, readOffers(routers, router));
		const text = formatOffers(offers);
		// A repeated request, whose first response was lost, is no change.
		const { max_duration: maxDuration = router.max_duration } = list;
		const isHourlySame = list.hourly === (router.hourly === 1) && maxDuration === router.max_duration;
		if (text === router.offers && isHourlySame) return buildListBody(context, trx, router);
		const last = await findLastOfferChange(trx, routerId);
		if (list.version !== undefined && list.version !== (last?.id ?? 0)) {
			throw new Refused('offers_changed', 'Somebody has changed the offers since you read them.');
		}
		const row = await saveOffers(trx, router, {
			...{ offers: text, hourly: list.hourly, maxDuration, lastOfferId },
			...{ accountId: setter.personId ?? setter.accountId, keyId: setter.keyId, now: clock.now() }
		});
		const named = (list: readonly Offer[]) => ({ offers: list.map(({ name }) => name).join(', ') });
		await recordForOwner(context, trx, setter, {
			...{ router, action: 'router.offers_changed' },
			...{ before: named(readOffers(routers, router)), after: named(offers) }
		});
		return buildListBody(context, trx, row);
	});
}

/** A router's differences after a change. null: there was, or will be, no such gateway. */
interface RouterChange {
	/** The router before. */
	router?: RouterRow;
	gateway?: Record<'before' | 'after', RegisteredGateway | null>;
}

/**
 * @param router as it will be
 * @returns why it and its gateways will no longer hold a limit that it sells; null if they will
 */
export async function findUnheldOffer(
	{ routers, gateways }: Offers,
	queries: Queries,
	router: RouterRow,
	{ router: routerBefore = router, gateway = { before: null, after: null } }: RouterChange = {}
): Promise<string | null> {
	const offers = readOffers(routers, router).filter(({ active }) => active);
	if (offers.length === 0) return null;
	const { before, after } = gateway;
	const others = (await findGatewaysOfRouter(gateways, queries, router.id)).filter(
		({ id }) => id !== before?.id && id !== after?.id
	);
	const at = (one: RegisteredGateway | null) => (one?.routerId === router.id ? [...others, one] : others);
	for (const offer of offers) {
		// A limit that was not held before does not refuse this change.
		const known = findUnheldLimits(offer, routerBefore, at(before)).map(({ field }) => field);
		const problem = findUnheldLimits(offer, router, at(after)).find(({ field }) => !known.includes(field));
		if (!problem) continue;
		return `router ${router.id} sells "${offer.name}" with a limit. ${problem.detail} Change the offer or set it inactive first.`;
	}
	return null;
}

/**
 * Runs in the transaction that changes gateways, or how buyers connect.
 * @throws Refused with `field` if the gateways no longer hold a limit that the router sells
 */
export async function requireHeldLimits(
	context: Offers,
	queries: Queries,
	routerId: number,
	{ field = 'router', ...change }: RouterChange & { field?: string }
): Promise<void> {
	const router = await findRouterOrThrow(queries, routerId);
	const reason = await findUnheldOffer(context, queries, router, change);
	if (reason !== null) throw refuseFields({ field, reason });
}

/** Gives each offer its id: the present one if its terms are unchanged, otherwise a new one. */
function assignIds({ offers }: OffersUpdateBody, router: RouterRow, before: readonly Offer[]) {
	const ids = new Map(before.map((offer) => [formatTerms({ ...offer, price: offer.price_minor }), offer.id]));
	let lastOfferId = router.last_offer_id;
	const list = offers.map((offer): Offer => {
		const price_minor = toMinor(offer.price, router.currency);
		if (price_minor === null) throw new Error(`Price ${offer.price} does not fit ${router.currency}`);
		const id = ids.get(formatTerms({ ...offer, price: price_minor })) ?? (lastOfferId += 1);
		return {
			...{ id, name: readLine(offer.name), duration: offer.duration, price_minor },
			...limitsOf(offer),
			...{ days: offer.days ?? null, from: offer.from ?? null, until: offer.until ?? null },
			active: offer.active
		};
	});
	return { offers: list, lastOfferId };
}

async function buildListBody({ config, routers }: Offers, queries: Queries, router: RouterRow) {
	const last = await findLastOfferChange(queries, router.id);
	const data = readOffers(routers, router).map(({ price_minor, days, ...offer }) => ({
		...offer,
		price: toMajor(price_minor, router.currency),
		days: days && [...days]
	}));
	return {
		...{ router_id: router.id, hourly: router.hourly === 1, max_duration: router.max_duration },
		version: last?.id ?? 0,
		...{ currency: router.currency, timezone: config.reportTimezone, data },
		...{ changed_at: isoTime(last?.changed_at ?? null), changed_by: last?.email ?? null }
	};
}

type NewOffer = OffersUpdateBody['offers'][number];
type Field = keyof NewOffer;

interface Seller {
	router: RouterRow;
	/** Whether one of its payment methods can charge an amount. */
	isPayable: (amountMinor: number) => boolean;
	gateways: readonly RegisteredGateway[];
}

/** Lists everything that is wrong with a new list of offers, by the field of the request body. */
function findOfferProblems(list: OffersUpdateBody, seller: Seller): ProblemItem[] {
	const problems = list.offers.flatMap((offer, index) => [
		...ownProblems(offer, seller).map(({ field, detail }) => problem(`/offers/${index}/${field}`, detail)),
		...duplicates(list.offers, index)
	]);
	const longest = list.max_duration === undefined ? null : durationProblem(seller.router, list.max_duration);
	if (longest !== null) problems.push(problem('/max_duration', longest));
	const sells = list.offers.some((offer) => offer.active);
	if (list.hourly || sells) return problems;
	return [
		...problems,
		problem('/hourly', 'Nothing would be sold: add an active offer, or sell by the hour.')
	];
}

const problem = (
	pointer: string,
	detail: string,
	code: ProblemItem['code'] = 'out_of_range'
): ProblemItem => ({
	...{ in: 'body', pointer, code, detail }
});

function ownProblems(offer: NewOffer, { router, gateways, isPayable }: Seller) {
	const found: { field: Field; detail: string }[] = [];
	const check = (field: Field, detail: string | null) => {
		if (detail !== null) found.push({ field, detail });
	};
	check('duration', durationProblem(router, offer.duration));
	check('price', priceProblem(offer.price, router, isPayable));
	check('until', hoursProblem(offer));
	// An inactive offer can wait for a gateway that is yet to hold its limits.
	return offer.active ? [...found, ...findUnheldLimits(offer, router, gateways)] : found;
}

function priceProblem(price: number, { currency }: RouterRow, isPayable: Seller['isPayable']): string | null {
	const minor = toMinor(price, currency);
	if (minor === null) return `Use an amount of ${currency} without superfluous decimals.`;
	return isPayable(minor) ? null : 'No payment method of the router can charge this amount.';
}

function hoursProblem({ from = null, until = null }: NewOffer): string | null {
	if ((from === null) !== (until === null)) return 'Give both "from" and "until", or neither.';
	return from !== null && from === until ? 'Use an end that differs from the start.' : null;
}

function duplicates(offers: readonly NewOffer[], index: number): ProblemItem[] {
	const offer = offers[index];
	if (!offer) return [];
	const earlier = offers.slice(0, index);
	const at = (field: Field) => `/offers/${index}/${field}`;
	const name = offer.name.trim().toLowerCase();
	if (earlier.some((one) => one.name.trim().toLowerCase() === name)) {
		return [problem(at('name'), `Another offer has the name "${offer.name}".`, 'duplicate')];
	}
	const same = earlier.find((one) => formatTerms(one) === formatTerms(offer));
	if (!same) return [];
	return [problem(at('price'), `"${same.name}" has the same duration, price and limits.`, 'duplicate')];
}

/** The terms for which an id stands. Equal keys mean equal terms. `price` may be in any one unit. */
const formatTerms = (offer: Limits & { duration: string; price: number }): string =>
	JSON.stringify([offer.duration, offer.price, ...Object.values(limitsOf(offer))]);

type Place = Pick<RouterRow, 'access_kind' | 'max_devices'>;

/** Why nothing at a router would hold a limit, in English for the API; pages translate `reason`. */
interface Unheld {
	reason: keyof typeof GATEWAY_DETAILS | 'shared_password' | 'no_gateway';
	/** The gateway that cannot; null if it is not about one. */
	gateway: RegisteredGateway | null;
	detail: string;
}

const NOUNS: Readonly<Record<Limit, string>> = {
	max_devices: 'the number of devices',
	speed_down_kbps: 'the speed',
	speed_up_kbps: 'the speed',
	data_limit_mb: 'the amount of data'
};

/** The ends of the sentences that begin with the gateway's name. */
const GATEWAY_DETAILS = {
	no_limits_with_enterprise: () => 'holds no limits with wpa_enterprise.',
	too_fast: (_noun: string, gateway: RegisteredGateway) =>
		`takes limits of up to ${computeMaxSpeedKbps(gateway)} kbit/s.`,
	needs_script: () =>
		'holds limits only with openNDS 10 or newer, after its BinAuth script has asked: install the script of its configuration.',
	needs_address: (noun: string) => `can limit ${noun} only with an address for Disconnect-Requests (--nas).`,
	one_device_only: () =>
		'may report what a device used only at its end, so it holds data limits only for 1 device.',
	needs_enterprise: () => 'reports whose data it is only with wpa_enterprise.',
	unable: (noun: string) => `cannot limit ${noun}.`
};

/** Lists the limits of an offer that the router and its gateways do not hold. */
export function findUnheldLimits(
	offer: Limits,
	router: Place,
	gateways: readonly RegisteredGateway[]
): ({ field: Limit } & Unheld)[] {
	return LIMITS.flatMap((field) => {
		const unheld = isSet(offer[field]) ? unheldLimit(field, offer, router, gateways) : null;
		return unheld === null ? [] : [{ field, ...unheld }];
	});
}

const isSet = (value: number | null | undefined): value is number => value !== null && value !== undefined;

function unheldLimit(
	field: Limit,
	offer: Limits,
	router: Place,
	gateways: readonly RegisteredGateway[]
): Unheld | null {
	const noun = NOUNS[field];
	const isShared = router.access_kind === 'shared_password';
	if (isShared && (field === 'max_devices' || field === 'data_limit_mb')) {
		const detail = `Everybody has the same password here, so ${noun} cannot be limited.`;
		return { reason: 'shared_password', gateway: null, detail };
	}
	if (field === 'max_devices') return null;
	if (gateways.length === 0) {
		const detail = `The router has no gateway, so nothing limits ${noun}.`;
		return { reason: 'no_gateway', gateway: null, detail };
	}
	// A limit that only some gateways of the router hold would depend on where the buyer connects.
	for (const gateway of gateways) {
		const reason = unheldReason(gateway, field, offer, router);
		if (reason === null) continue;
		const detail = `The gateway "${gateway.name}" (${gateway.kind}) ${GATEWAY_DETAILS[reason](noun, gateway)}`;
		return { reason, gateway, detail };
	}
	return null;
}

function unheldReason(
	gateway: RegisteredGateway,
	field: Limit,
	offer: Limits,
	{ access_kind: access, max_devices: most }: Place
): keyof typeof GATEWAY_DETAILS | null {
	// With EAP, FreeRADIUS sends the gateway only the end of a pass. RouterOS may not support Disconnect-Requests for it.
	if (access === 'wpa_enterprise' && gateway.kind === 'mikrotik') return 'no_limits_with_enterprise';
	if (field === 'data_limit_mb') return explainUnheldData(gateway, access, offer.max_devices ?? most);
	return explainUnheldSpeed(gateway, offer[field] ?? 0);
}

/** The columns of a CSV file; their names and units are those of the API. */
const OFFER_COLUMNS = [
	...(['name', 'duration', 'price'] as const),
	...LIMITS,
	...(['days', 'from', 'until', 'active'] as const)
] as const;

export type OfferColumn = (typeof OFFER_COLUMNS)[number];

/** An offer as typed. An empty text is no limit; `days` are separated by spaces, `active` is yes or no. */
export type OfferCells = Readonly<Record<OfferColumn, string>>;

/**
 * Reads a list of offers from typed texts.
 * @throws Refused `validation_failed`; a pointer is `/offers/N/COLUMN`, where N counts from 0
 */
export function readCells(
	rows: readonly OfferCells[],
	list: Pick<OffersUpdateBody, 'hourly' | 'max_duration' | 'version'>,
	currency: string
): OffersUpdateBody {
	const sent = { ...list, offers: rows.map((row) => readValues(row, currency)) };
	const read = offersUpdate.safeParse(sent);
	if (read.success) return read.data;
	throw validationFailed(read.error.issues.flatMap((issue) => describeIssue('body', issue, sent)));
}

/** Leaves unreadable text as it is, so that the schema names its field. */
const readValues = (cells: OfferCells, currency: string) => ({
	name: cells.name.trim(),
	duration: cells.duration.trim(),
	price: readPrice(cells.price, currency),
	...Object.fromEntries(LIMITS.map((limit) => [limit, readNumber(cells[limit])])),
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

function readNumber(text: string): number | string | null {
	const digits = plainText(text);
	if (digits === '') return null;
	return /^\d{1,12}$/.test(digits) ? Number(digits) : digits;
}

export function formatCells(offer: OwnerOfferListBody['data'][number]): OfferCells {
	const values = { ...offer, days: offer.days?.join(' '), active: offer.active ? 'yes' : 'no' };
	return Object.fromEntries(OFFER_COLUMNS.map((name) => [name, String(values[name] ?? '')])) as OfferCells;
}
