import { durationSeconds, formatDuration, parseDuration } from '../domain/duration.ts';
import * as m from '../i18n/messages.js';
import { offeredMethods, methodName } from '../domain/payment-methods/payment-methods.ts';
import { formatMoney } from '../domain/money.ts';
import { apart } from '../i18n/intl.ts';
import { joined, offerTerms } from './offer-words.ts';
import {
	chargingMethods,
	cheapestPerHour,
	lowestOffer,
	methodProblem,
	offersOnSale,
	payablePrice,
	priceOf,
	usualOffer,
	type PricedOffer,
	type PricedRouter
} from './price.ts';

/** A duration with its price: `amount` in major units, `money` as text. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
	/** Not every payment method of the router can charge it. */
	partly?: true;
	/** The offer that is bought. */
	offer?: { id: number; name: string; terms: string; isCheapest: boolean };
}

/** Prices for the form. The server makes the texts, because old phones lack the language data. */
export interface Offer extends Required<PricedRouter> {
	/** The offers of the router; without any, common durations at the hourly price. */
	choices: TimeChoice[];
	bounds: string;
	perHour: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/** Prices a duration at a router. Returns null if it is invalid, outside the router's limits or cannot be charged. */
export function quote(router: PricedRouter, duration: string): TimeChoice | null {
	const offer = usualOffer(router, duration);
	if (offer) return offerChoice(router, offer, duration);
	const amount = payablePrice(router, duration);
	return amount === null ? null : choiceOf(router, duration, amount);
}

/** Prices an offer by its id. Returns null unless it has this duration and is on sale. */
export function quoteOffer(router: PricedRouter, duration: string, id: number): TimeChoice | null {
	const offer = offersOnSale(router).find((one) => one.id === id);
	if (!offer || durationSeconds(offer.duration) !== parseDuration(duration)?.seconds) return null;
	return offerChoice(router, offer, duration);
}

/** @param duration the time of the offer, as the buyer wrote it */
function offerChoice(router: PricedRouter, offer: PricedOffer, duration = offer.duration): TimeChoice {
	const { id, name, price } = offer;
	const isCheapest = cheapestPerHour(offersOnSale(router))?.id === id;
	return {
		...choiceOf(router, duration, price),
		offer: { id, name, terms: offerTerms(offer), isCheapest }
	};
}

function choiceOf(router: PricedRouter, duration: string, amount: number): TimeChoice {
	const offered = offeredMethods(router.payment_methods ?? []);
	const isPartly = chargingMethods(router, amount).length < offered.length;
	return {
		duration,
		words: formatDuration(duration),
		amount,
		money: formatMoney(amount, router.currency),
		...(isPartly && { partly: true })
	};
}

/** Lists the offers; without any, common durations, shortest first, with narrow limits the shortest allowed. */
export function timeChoices(router: PricedRouter): TimeChoice[] {
	const offers = offersOnSale(router);
	if (offers.length > 0) return offers.map((offer) => offerChoice(router, offer));
	const choices = COMMON_DURATIONS.map((duration) => quote(router, duration)).filter(
		(choice) => choice !== null
	);
	if (choices.length > 0) return choices;
	const shortest = quote(router, router.min_duration);
	return shortest ? [shortest] : [];
}

/** Chooses the default: one hour, else the shortest. */
export const usualChoice = (choices: readonly TimeChoice[]): TimeChoice | null =>
	choices.find(({ duration }) => duration === USUAL_DURATION) ?? choices[0] ?? null;

/** Names what a choice buys: "Day, 3 devices", or "2 hours" without an offer. */
export const choiceWords = ({ words, offer }: TimeChoice): string =>
	offer ? joined([apart(offer.name), offer.terms]) : words;

/** Allows a line break after the currency, for large figures on narrow screens. */
export const breakable = (money: string): string => money.replace('\u00a0', ' ');

export const offerOf = <Router extends PricedRouter>(router: Router): Router & Offer => ({
	...{ payment_methods: [], payment_limits: [], offers: [], hourly: true, max_devices: 1 },
	...router,
	choices: timeChoices(router),
	bounds: boundsText(router),
	perHour: m.router_per_hour({ money: formatMoney(router.price, router.currency) })
});

/** Returns the price of a router in a few words: "from UGX 200" with offers, else "UGX 500 an hour". */
export const priceText = (router: PricedRouter): string =>
	shortPrice({ ...router, lowest: lowestOffer(router) });

/** @param lowest the lowest price of its offers; null without any */
export function shortPrice(router: { price: number; currency: string; lowest: number | null }): string {
	const { price, currency, lowest } = router;
	return lowest === null
		? m.router_per_hour({ money: formatMoney(price, currency) })
		: m.router_price_from({ money: formatMoney(lowest, currency) });
}

export function unquotedText(router: PricedRouter, duration: string): string {
	const amount = priceOf(router, duration);
	const [method] = offeredMethods(router.payment_methods ?? []);
	const problem = amount === null || method === undefined ? null : chargeText(router, method, amount);
	return problem ?? m.router_choose_from({ bounds: boundsText(router) });
}

export function chargeText(router: PricedRouter, method: string, amount: number): string | null {
	const problem = methodProblem(router, method, amount);
	if (problem === null) return null;
	const limit = router.payment_limits?.find(({ payment_method }) => payment_method === method);
	const words = { method: methodName(method), money: formatMoney(amount, router.currency) };
	const bound = (major: number) => ({ ...words, bound: formatMoney(major, router.currency) });
	if (problem === 'step') return m.router_charge_step(words);
	return problem === 'min'
		? m.router_charge_min(bound(limit?.min ?? 0))
		: m.router_charge_max(bound(limit?.max ?? 0));
}

export const boundsText = (router: PricedRouter): string =>
	m.router_bounds({
		shortest: formatDuration(router.min_duration),
		longest: formatDuration(router.max_duration)
	});
