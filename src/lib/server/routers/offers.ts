import { chargeable } from '#lib/domain/payment-methods/chargeable.ts';
import { durationSeconds } from '#lib/domain/duration.ts';
import { toMajor } from '#lib/domain/money.ts';
import { offeredMethods } from '#lib/domain/payment-methods/payment-method-guess.ts';
import { isOnSale, localTime, type SaleHours } from '#lib/domain/offers/sale-hours.ts';
import type { OfferBody } from '../api/contract/schemas.ts';
import type { RoutersContext } from './context.ts';
import type { RouterRow } from './store.ts';

/** The limits that an offer sets; null sets none. */
export interface OfferLimits {
	max_devices: number | null;
	speed_down_kbps: number | null;
	speed_up_kbps: number | null;
	data_limit_mb: number | null;
}

/** An offer as the column `routers.offers` holds it, in a JSON array in the order of sale. */
export interface Offer extends OfferLimits, SaleHours {
	/** Unique at its router and never used again: stands for the duration, the price and the limits. */
	id: number;
	name: string;
	duration: string;
	price_minor: number;
	active: boolean;
}

/** An active offer and whether it is on sale now. */
export interface ListedOffer {
	offer: Offer;
	available: boolean;
}

const MAX_CACHED_LISTS = 1000;

/** Returns all offers of a router, also those that are not active. Parsed lists are cached by their text. */
export function offersOf({ offerLists }: RoutersContext, { offers: text }: RouterRow): readonly Offer[] {
	const known = offerLists.get(text);
	if (known) return known;
	const offers = JSON.parse(text) as Offer[];
	if (offerLists.size >= MAX_CACHED_LISTS) offerLists.clear();
	offerLists.set(text, offers);
	return offers;
}

/** True if one of the payment methods can charge the amount. */
export const isPayable = (
	{ operators }: Pick<RoutersContext, 'operators'>,
	methods: readonly string[],
	amountMinor: number
): boolean => offeredMethods(methods).some((method) => chargeable(amountMinor, operators.amountRule(method)));

/** Returns the active offers in the order of sale. */
export function listedOffers(
	context: RoutersContext,
	row: RouterRow,
	methods: readonly string[]
): ListedOffer[] {
	const active = offersOf(context, row).filter((offer) => offer.active);
	if (active.length === 0) return [];
	const now = localTime(context.clock.now(), context.config.reportTimezone);
	return active.map((offer) => {
		const available = isOnSale(offer, now) && isPayable(context, methods, offer.price_minor);
		return { offer, available };
	});
}

export const offerBody = ({ offer, available }: ListedOffer, currency: string): OfferBody => ({
	id: offer.id,
	name: offer.name,
	duration: offer.duration,
	duration_seconds: durationSeconds(offer.duration),
	price: toMajor(offer.price_minor, currency),
	max_devices: offer.max_devices,
	speed_down_kbps: offer.speed_down_kbps,
	speed_up_kbps: offer.speed_up_kbps,
	data_limit_mb: offer.data_limit_mb,
	available
});
