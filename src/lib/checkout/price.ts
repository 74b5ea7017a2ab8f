import { durationSeconds, parseDuration } from '../domain/duration.ts';
import { priceForSeconds, toMajor, toMinor } from '../domain/money.ts';

/** The fields of a router that decide a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	max_duration: string;
}

/** Value of the form's field `time` for a typed count and unit. */
export const OWN_TIME = 'own';
const UNITS = ['m', 'h', 'd', 'w'];

/** Joins "90" and "m" to "90m". Returns null for anything but a whole count of a unit. */
export function ownDuration(count: string, unit: string): string | null {
	const digits = count.replace(/^0+(?=\d)/, '');
	return /^[1-9]\d{0,4}$/.test(digits) && UNITS.includes(unit) ? digits + unit : null;
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
