import { durationSeconds, parseDuration } from '../domain/duration.ts';
import { priceForSeconds, toMajor, toMinor } from '../domain/money.ts';

/** The fields of a router that decide a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	max_duration: string;
}

/** The value of the form's field `time` where the buyer types a count and a unit. */
export const OWN_TIME = 'own';
const UNITS = ['m', 'h', 'd', 'w'];

/** "90m" from "90" and "m"; null when it is not a whole count of a unit. */
export function ownDuration(count: string, unit: string): string | null {
	const digits = count.replace(/^0+(?=\d)/, '');
	return /^[1-9]\d{0,4}$/.test(digits) && UNITS.includes(unit) ? digits + unit : null;
}

/**
 * Computes the price of a time at a router: the amount, in major units, that the API asks for.
 * @returns null when the text is not a duration or lies outside the router's bounds
 */
export function priceOf(router: PricedRouter, duration: string): number | null {
	const seconds = parseDuration(duration)?.seconds;
	if (seconds === undefined) return null;
	if (seconds < durationSeconds(router.min_duration) || seconds > durationSeconds(router.max_duration)) {
		return null;
	}
	const perHour = toMinor(router.price, router.currency);
	return perHour === null ? null : toMajor(priceForSeconds(perHour, seconds), router.currency);
}
