import { durationProblem, durationSeconds, hourlyProblem, parseDuration } from '../domain/duration.ts';
import { amountProblem, ANY_AMOUNT, type AmountRule } from '../domain/payment-methods/chargeable.ts';
import { currencyExponent, priceForSeconds, toMajor, toMinor } from '../domain/money.ts';
import { cheapestUnlimited, fitsPass, type Limits } from '../domain/offers/offer-limits.ts';
import { offeredMethods } from '../domain/payment-methods/payment-methods.ts';

/** The fields of a router that decide a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	/** The longest time at the hourly price. */
	max_duration: string;
	payment_methods?: string[];
	/** Of the API's router, in major units. */
	payment_limits?: { payment_method: string; step: number; min: number; max: number }[];
	/** Of the API's router: durations at prices of their own. */
	offers?: readonly PricedOffer[];
	/** false: only the offers are sold. */
	hourly?: boolean;
	/** Devices of a pass, unless the offer has its own number. */
	max_devices?: number;
}

export interface PricedOffer extends Limits {
	id: number;
	name: string;
	duration: string;
	price: number;
	available: boolean;
}

/** Value of the form's field `time` for a typed count and unit. */
export const OWN_TIME = 'own';
const UNITS = ['m', 'h', 'd', 'w'];

/** Joins "90" and "m" to "90m". Returns null for anything but a whole count of a unit. */
export function ownDuration(count: string, unit: string): string | null {
	const digits = count.replace(/^0+(?=\d)/, '');
	return /^[1-9]\d{0,4}$/.test(digits) && UNITS.includes(unit) ? digits + unit : null;
}

type Charging = Pick<PricedRouter, 'currency' | 'payment_methods' | 'payment_limits'>;

function ruleOf({ currency, payment_limits = [] }: Charging, method: string): AmountRule {
	const limit = payment_limits.find(({ payment_method }) => payment_method === method);
	if (!limit) return ANY_AMOUNT;
	const minor = (major: number) => Math.round(major * 10 ** currencyExponent(currency));
	return { stepMinor: minor(limit.step), minMinor: minor(limit.min), maxMinor: minor(limit.max) };
}

/** Returns why a method of a router cannot charge an amount in major units; null if it can. */
export const methodProblem = (router: Charging, method: string, amount: number) =>
	amountProblem(Math.round(amount * 10 ** currencyExponent(router.currency)), ruleOf(router, method));

/** Lists the offered methods of a router that can charge an amount in major units. */
export const chargingMethods = (router: Charging, amount: number): string[] =>
	offeredMethods(router.payment_methods ?? []).filter(
		(method) => methodProblem(router, method, amount) === null
	);

const isUnpayable = (router: Charging, amount: number): boolean =>
	(router.payment_methods ?? []).length > 0 && chargingMethods(router, amount).length === 0;

export const offersOnSale = (router: PricedRouter): PricedOffer[] =>
	(router.offers ?? []).filter(
		({ available, duration, price }) =>
			available && durationProblem(router, duration) === null && !isUnpayable(router, price)
	);

const DAY_SECONDS = 24 * 60 * 60;

export function lowestOffer(router: PricedRouter): number | null {
	const prices = offersOnSale(router).map(({ price }) => price);
	return prices.length > 0 ? Math.min(...prices) : null;
}

/** Lists at most three offers for a poster, in the order of sale: the cheapest, the cheapest per hour, and a day. */
export function usefulOffers(router: PricedRouter): PricedOffer[] {
	// Hours of sale change while a poster hangs.
	const offers = offersOnSale({
		...router,
		offers: (router.offers ?? []).map((offer) => ({ ...offer, available: true }))
	});
	const cheapest = [...offers].sort((a, b) => a.price - b.price)[0];
	const day = offers.find(({ duration }) => durationSeconds(duration) === DAY_SECONDS);
	const first = [cheapest, cheapestPerHour(offers), day, ...offers].filter((offer) => offer != null);
	const chosen = [...new Set(first)].slice(0, 3);
	return offers.filter((offer) => chosen.includes(offer));
}

/** Returns null if there is nothing to compare. */
export function cheapestPerHour(offers: readonly PricedOffer[]): PricedOffer | null {
	const perSecond = ({ price, duration }: PricedOffer) => price / durationSeconds(duration);
	const [cheapest, next] = [...offers].sort((a, b) => perSecond(a) - perSecond(b));
	return cheapest && next ? cheapest : null;
}

/** Finds the offer that a typed duration buys. */
export const usualOffer = (router: PricedRouter, duration: string): PricedOffer | null =>
	cheapestUnlimited(
		offersOnSale(router),
		{ seconds: parseDuration(duration)?.seconds ?? 0, maxDevices: router.max_devices ?? 1 },
		({ price }) => price
	);

/** Returns a router with what it sells to a pass. */
export function sellingTo<Router extends PricedRouter>(router: Router, pass: Limits): Router {
	const offers = (router.offers ?? []).filter((offer) => fitsPass(offer, pass));
	return { ...router, hourly: router.hourly !== false && fitsPass({}, pass), offers };
}

export const sellsNothing = (router: PricedRouter): boolean =>
	router.hourly === false && offersOnSale(router).length === 0;

/** Returns the price of a duration as `priceOf` does, but null if no payment method can charge it. */
export function payablePrice(router: PricedRouter, duration: string): number | null {
	const amount = priceOf(router, duration);
	return amount === null || isUnpayable(router, amount) ? null : amount;
}

/** Returns the price of a duration in major units; null if it is invalid, out of limits or not sold. */
export function priceOf(router: PricedRouter, duration: string): number | null {
	const seconds = parseDuration(duration)?.seconds;
	if (seconds === undefined) return null;
	const offer = usualOffer(router, duration);
	if (offer !== null || router.hourly === false) return offer?.price ?? null;
	if (hourlyProblem(router, duration) !== null) return null;
	const perHour = toMinor(router.price, router.currency);
	return perHour === null ? null : toMajor(priceForSeconds(perHour, seconds), router.currency);
}
