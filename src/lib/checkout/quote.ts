import { durationSeconds, formatDuration, parseDuration } from '../domain/duration.ts';
import * as m from '../i18n/messages.js';
import { formatMoney, priceForSeconds, toMajor, toMinor } from '../domain/money.ts';

/** What of a router decides a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	max_duration: string;
}

/** A time that can be bought, with its price as a number (major units) and as a buyer reads it. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
}

/** What a form offers: made on the server, so that an old phone need not know how the language writes it. */
export interface Offer extends PricedRouter {
	payment_methods: string[];
	choices: TimeChoice[];
	/** "15 minutes to 30 days" */
	bounds: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/**
 * The price of a time at a router: the amount the API will ask for.
 * @returns null when the text is not a duration or lies outside the router's bounds
 */
export function quote(router: PricedRouter, duration: string): TimeChoice | null {
	const seconds = parseDuration(duration)?.seconds;
	if (seconds === undefined) return null;
	if (seconds < durationSeconds(router.min_duration) || seconds > durationSeconds(router.max_duration)) {
		return null;
	}
	const perHour = toMinor(router.price, router.currency);
	if (perHour === null) return null;
	const amount = toMajor(priceForSeconds(perHour, seconds), router.currency);
	return {
		duration,
		words: formatDuration(duration),
		amount,
		money: formatMoney(amount, router.currency)
	};
}

/** The times to offer as buttons, shortest first; never none: a narrow router offers its shortest time. */
export function timeChoices(router: PricedRouter): TimeChoice[] {
	const choices = COMMON_DURATIONS.map((duration) => quote(router, duration)).filter(
		(choice) => choice !== null
	);
	if (choices.length > 0) return choices;
	const shortest = quote(router, router.min_duration);
	return shortest ? [shortest] : [];
}

/** The choice a new form starts with: one hour, else the shortest. */
export function usualChoice(choices: readonly TimeChoice[]): TimeChoice | null {
	return choices.find(({ duration }) => duration === USUAL_DURATION) ?? choices[0] ?? null;
}

/** A price that may break after its currency where a large figure meets a narrow screen. */
export const breakable = (money: string): string => money.replace('\u00a0', ' ');

/** What a PayForm needs to know of a router, in the current language. */
export function offerOf(router: PricedRouter & { payment_methods: string[] }): Offer {
	const { price, currency, min_duration, max_duration, payment_methods } = router;
	return {
		...{ price, currency, min_duration, max_duration, payment_methods },
		choices: timeChoices(router),
		bounds: boundsText(router)
	};
}

/** "15 minutes to 30 days" */
export function boundsText(router: PricedRouter): string {
	return m.router_bounds({
		shortest: formatDuration(router.min_duration),
		longest: formatDuration(router.max_duration)
	});
}
