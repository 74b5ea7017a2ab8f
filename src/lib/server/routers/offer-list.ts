import { type AmountRule, chargeable, offeredMethods } from '#lib/domain/payment-methods.ts';
import { durationSeconds } from '#lib/domain/time.ts';
import { toMajor } from '#lib/domain/money.ts';
import { type Limit, limitsOf } from '#lib/domain/offers.ts';
import { type SaleHours, isOnSale } from '#lib/domain/opening-hours.ts';
import type { OfferBody } from '../contract/offer.ts';
import type { Base } from '../base.ts';
import type { Operators } from '../billing/operators/registry.ts';
import type { Queries } from '../db/database.ts';
import type { Row } from '../db/schema.ts';

/**
 * The offers of a router as stored, and as listed in the API: which are on sale now. Their owners edit them in
 * offers.ts.
 */

/** An offer as the column `routers.offers` holds it, in a JSON array in the order of sale. null sets no limit. */
export interface Offer extends Record<Limit, number | null>, SaleHours {
	/** Unique at its router and never used again: stands for the duration, the price and the limits. */
	id: number;
	name: string;
	duration: string;
	price_minor: number;
	active: boolean;
}

/** An active offer, whether it is on sale now, and its object in the API. */
interface ListedOffer {
	offer: Offer;
	available: boolean;
	body: OfferBody;
}

/** The active offers in the order of sale. Never changed, so routers share it. */
interface ListedOffers {
	listed: readonly ListedOffer[];
	bodies: OfferBody[];
}

/** The parsed offers of routers with the same stored text. */
interface OfferList {
	currency: string;
	all: readonly Offer[];
	active: readonly Offer[];
	/** As last shown; the bits of `missing` stand for the active offers that were not on sale. */
	shown: ListedOffers & { missing: number };
}

export interface OffersContext extends Base {
	operators: Operators;
	/** Offers by stored text. */
	offerLists: Map<string, OfferList>;
}

const MAX_CACHED_LISTS = 1000;

/** Writes the column. Omits null members, because each list of routers reads the text. */
export const formatOffers = (offers: readonly Offer[]): string =>
	JSON.stringify(offers, (_name, value: unknown) => value ?? undefined);

const NO_LIMITS = { ...limitsOf({}), days: null, from: null, until: null };

export const parseOffers = (text: string): readonly Offer[] =>
	(JSON.parse(text) as Offer[]).map((offer) => ({ ...NO_LIMITS, ...offer }));

/** Parsed lists are cached: routers of one owner often have the same. */
function readOfferList({ offerLists }: OffersContext, { offers: text, currency }: Row<'routers'>): OfferList {
	const known = offerLists.get(text);
	if (known?.currency === currency) return known;
	const all = parseOffers(text);
	const active = all.filter((offer) => offer.active);
	const list = { currency, all, active, shown: showOffers(active, currency, 0) };
	if (offerLists.size >= MAX_CACHED_LISTS) offerLists.clear();
	offerLists.set(text, list);
	return list;
}

function showOffers(active: readonly Offer[], currency: string, missing: number): OfferList['shown'] {
	const listed = active.map((offer, index) => {
		const available = (missing & (1 << index)) === 0;
		return { offer, available, body: offerBody(offer, currency, available) };
	});
	return { missing, listed, bodies: listed.map(({ body }) => body) };
}

export const readOffers = (context: OffersContext, row: Row<'routers'>): readonly Offer[] =>
	readOfferList(context, row).all;

/** Returns the amounts of each offered method. */
export const listAmountRules = (
	{ operators }: Pick<OffersContext, 'operators'>,
	methods: readonly string[]
): AmountRule[] => offeredMethods(methods).map((method) => operators.amountRule(method));

export const isPayable = (
	context: Pick<OffersContext, 'operators'>,
	methods: readonly string[],
	amountMinor: number
): boolean => listAmountRules(context, methods).some((rule) => chargeable(amountMinor, rule));

/** @param rules of the router's payment methods, from `listAmountRules` */
export function listOffers(
	context: OffersContext,
	row: Row<'routers'>,
	rules: readonly AmountRule[]
): ListedOffers {
	const list = readOfferList(context, row);
	if (list.active.length === 0) return list.shown;
	const { clock, config } = context;
	const now = clock.now();
	let missing = 0;
	for (const [index, offer] of list.active.entries()) {
		const hasMethod = rules.some((rule) => chargeable(offer.price_minor, rule));
		if (!hasMethod || !isOnSale(offer, now, config.reportTimezone)) missing |= 1 << index;
	}
	if (list.shown.missing !== missing) list.shown = showOffers(list.active, list.currency, missing);
	return list.shown;
}

const offerBody = (offer: Offer, currency: string, available: boolean): OfferBody => ({
	id: offer.id,
	name: offer.name,
	duration: offer.duration,
	duration_seconds: durationSeconds(offer.duration),
	price: toMajor(offer.price_minor, currency),
	...limitsOf(offer),
	available
});

interface OfferChange {
	/** JSON array of the new list. */
	offers: string;
	hourly: boolean;
	maxDuration: string;
	lastOfferId: number;
	accountId: number;
	keyId: number | null;
	now: number;
}

/** Sets the offers and records the list with the account that set it. */
export async function saveOffers(queries: Queries, { id }: Row<'routers'>, change: OfferChange) {
	const list = { offers: change.offers, hourly: change.hourly ? 1 : 0 };
	await queries
		.insertInto('offer_changes')
		.values({
			...{ router_id: id, ...list },
			...{ account_id: change.accountId, api_key_id: change.keyId, changed_at: change.now }
		})
		.execute();
	return queries
		.updateTable('routers')
		.set({
			...{ ...list, max_duration: change.maxDuration },
			...{ last_offer_id: change.lastOfferId, updated_at: change.now }
		})
		.where('id', '=', id)
		.returningAll()
		.executeTakeFirstOrThrow();
}

export const findLastOfferChange = (queries: Queries, routerId: number) =>
	queries
		.selectFrom('offer_changes')
		.innerJoin('accounts', 'accounts.id', 'offer_changes.account_id')
		.select(['offer_changes.id', 'accounts.email', 'offer_changes.changed_at'])
		.where('router_id', '=', routerId)
		.orderBy('offer_changes.id', 'desc')
		.limit(1)
		.executeTakeFirst();
