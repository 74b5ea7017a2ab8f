import { formatDuration } from '../domain/duration.ts';
import * as m from '../i18n/messages.js';
import { offeredMethods, methodName } from '../domain/payment-methods.ts';
import { formatMoney } from '../domain/money.ts';
import { chargingMethods, methodProblem, payablePrice, priceOf, type PricedRouter } from './price.ts';

/** A duration with its price: `amount` in major units, `money` as text. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
	/** Not every payment method of the router can charge it. */
	partly?: true;
}

/** Prices for the form. The server makes the texts, because old phones lack the language data. */
export interface Offer extends Required<PricedRouter> {
	choices: TimeChoice[];
	bounds: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/** Prices a duration at a router. Returns null if it is invalid, outside the router's limits or cannot be charged. */
export function quote(router: PricedRouter, duration: string): TimeChoice | null {
	const amount = payablePrice(router, duration);
	if (amount === null) return null;
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

export function offerOf(router: PricedRouter): Offer {
	const { price, currency, min_duration, max_duration, payment_methods = [], payment_limits = [] } = router;
	return {
		...{ price, currency, min_duration, max_duration, payment_methods, payment_limits },
		choices: timeChoices(router),
		bounds: boundsText(router)
	};
}

/** Explains why a duration has no quote. */
export function unquotedText(router: PricedRouter, duration: string): string {
	const amount = priceOf(router, duration);
	const [method] = offeredMethods(router.payment_methods ?? []);
	const problem = amount === null || method === undefined ? null : chargeText(router, method, amount);
	return problem ?? m.router_choose_from({ bounds: boundsText(router) });
}

/** Explains why a payment method cannot charge an amount; null if it can. */
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

export function boundsText(router: PricedRouter): string {
	return m.router_bounds({
		shortest: formatDuration(router.min_duration),
		longest: formatDuration(router.max_duration)
	});
}
