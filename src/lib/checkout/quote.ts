import { formatDuration } from '../domain/duration.ts';
import * as m from '../i18n/messages.js';
import { formatMoney } from '../domain/money.ts';
import { priceOf, type PricedRouter } from './price.ts';

/** A time that can be bought. `amount` is its price in major units, `money` the same as text. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
}

/** A router's prices as the form needs them. The texts are made on the server: old phones lack the language data. */
export interface Offer extends PricedRouter {
	payment_methods: string[];
	choices: TimeChoice[];
	/** "15 minutes to 30 days" */
	bounds: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/**
 * Prices a time at a router, in numbers and in words.
 * @returns null when the text is not a duration or lies outside the router's bounds
 */
export function quote(router: PricedRouter, duration: string): TimeChoice | null {
	const amount = priceOf(router, duration);
	if (amount === null) return null;
	return {
		duration,
		words: formatDuration(duration),
		amount,
		money: formatMoney(amount, router.currency)
	};
}

/** The times to offer as buttons, shortest first; a router with narrow bounds offers its shortest time. */
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

/** The offer of a router in the current language. */
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
