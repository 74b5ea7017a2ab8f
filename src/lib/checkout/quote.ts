import { formatDuration } from '../domain/duration.ts';
import * as m from '../i18n/messages.js';
import { formatMoney } from '../domain/money.ts';
import { priceOf, type PricedRouter } from './price.ts';

/** A duration with its price: `amount` in major units, `money` as text. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
}

/** Prices for the form. The server makes the texts, because old phones lack the language data. */
export interface Offer extends PricedRouter {
	payment_methods: string[];
	choices: TimeChoice[];
	bounds: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/** Prices a duration at a router. Returns null if it is invalid or outside the router's limits. */
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

/** Lists durations to offer, shortest first; with narrow limits, the shortest allowed. */
export function timeChoices(router: PricedRouter): TimeChoice[] {
	const choices = COMMON_DURATIONS.map((duration) => quote(router, duration)).filter(
		(choice) => choice !== null
	);
	if (choices.length > 0) return choices;
	const shortest = quote(router, router.min_duration);
	return shortest ? [shortest] : [];
}

/** Chooses the default: one hour, else the shortest. */
export function usualChoice(choices: readonly TimeChoice[]): TimeChoice | null {
	return choices.find(({ duration }) => duration === USUAL_DURATION) ?? choices[0] ?? null;
}

/** Allows a line break after the currency, for large figures on narrow screens. */
export const breakable = (money: string): string => money.replace('\u00a0', ' ');

export function offerOf(router: PricedRouter & { payment_methods: string[] }): Offer {
	const { price, currency, min_duration, max_duration, payment_methods } = router;
	return {
		...{ price, currency, min_duration, max_duration, payment_methods },
		choices: timeChoices(router),
		bounds: boundsText(router)
	};
}

export function boundsText(router: PricedRouter): string {
	return m.router_bounds({
		shortest: formatDuration(router.min_duration),
		longest: formatDuration(router.max_duration)
	});
}
