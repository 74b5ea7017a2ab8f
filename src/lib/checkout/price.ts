import { durationSeconds, parseDuration } from '../domain/duration.ts';
import { amountProblem, ANY_AMOUNT, type AmountRule } from '../domain/chargeable.ts';
import { currencyExponent, priceForSeconds, toMajor, toMinor } from '../domain/money.ts';
import { offeredMethods } from '../domain/payment-methods.ts';

/** The fields of a router that decide a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	max_duration: string;
	payment_methods?: string[];
	/** Of the API's router, in major units. */
	payment_limits?: { payment_method: string; step: number; min: number; max: number }[];
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

/** True if no payment method of a router can charge an amount. */
export const isUnpayable = (router: Charging, amount: number): boolean =>
	(router.payment_methods ?? []).length > 0 && chargingMethods(router, amount).length === 0;

/** Returns the price of a duration as `priceOf` does, but null if no payment method can charge it. */
export function payablePrice(router: PricedRouter, duration: string): number | null {
	const amount = priceOf(router, duration);
	return amount === null || isUnpayable(router, amount) ? null : amount;
}

/** Returns the API's price of a duration in major units; null if the duration is invalid or out of limits. */
export function priceOf(router: PricedRouter, duration: string): number | null {
	const seconds = parseDuration(duration)?.seconds;
	if (seconds === undefined) return null;
	if (seconds < durationSeconds(router.min_duration) || seconds > durationSeconds(router.max_duration)) {
		return null;
	}
	const perHour = toMinor(router.price, router.currency);
	return perHour === null ? null : toMajor(priceForSeconds(perHour, seconds), router.currency);
}
