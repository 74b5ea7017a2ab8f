import * as m from '../i18n/messages.js';
import { boundsText, quote, type PricedRouter, type TimeChoice } from './quote.ts';

/**
 * The form of a purchase, as text: what a buyer entered, and the price that stood beside it. The price travels
 * with the form so that the amount that is charged is always the amount that was shown.
 */
export interface PayEntry {
	/** "1h 500": a time and the price that was shown with it; or "own". */
	time: string;
	/** Own time: how many of which unit. */
	count: string;
	unit: string;
	/** The own time whose price was shown, e.g. "90m", and that price, e.g. "750". */
	asked: string;
	quoted: string;
	/** The amount on the button, where no script keeps it up to date; empty when it names none. */
	pays: string;
	network: string;
	phone: string;
	/** The purchase that this form begins: sent twice, it is still one purchase. */
	purchase: string;
}

export const OWN_TIME = 'own';
const UNITS = ['m', 'h', 'd', 'w'];
/** Longer than any honest entry; what is longer is cut, and then refused. */
const MAX_FIELD_LENGTH = 64;

/** Text fields of a form, without files, trimmed and cut. */
export function readFields<Name extends string>(
	data: FormData,
	names: readonly Name[]
): Record<Name, string> {
	const fields = names.map((name) => {
		const value = data.get(name);
		return [name, typeof value === 'string' ? value.trim().slice(0, MAX_FIELD_LENGTH) : ''];
	});
	return Object.fromEntries(fields) as Record<Name, string>;
}

export const readPayEntry = (data: FormData): PayEntry =>
	readFields(data, ['time', 'count', 'unit', 'asked', 'quoted', 'pays', 'network', 'phone', 'purchase']);

/** The value of a radio button: the time, and the price that stands beside it. */
export const timeValue = (choice: TimeChoice): string => `${choice.duration} ${choice.amount}`;

/** "90m" from "90" and "m"; null when it is not a whole count of a unit. */
export function ownDuration(count: string, unit: string): string | null {
	const digits = count.replace(/^0+(?=\d)/, '');
	return /^[1-9]\d{0,4}$/.test(digits) && UNITS.includes(unit) ? digits + unit : null;
}

/**
 * What the buyer wants to buy. `seen` is false when its price did not stand on the page that was sent: then
 * the page comes back with it first.
 */
export type WantedTime = { choice: TimeChoice; own: boolean; seen: boolean } | { error: string };

export function wantedTime(router: PricedRouter, entry: PayEntry): WantedTime {
	const onButton = ({ amount }: TimeChoice) => entry.pays === '' || entry.pays === String(amount);
	const own = ownDuration(entry.count, entry.unit);
	// Without script a typed time does not choose its button; having been shown its price, a button is a choice.
	const typed = entry.count !== '' && own !== entry.asked;
	if (entry.time === OWN_TIME || typed) {
		if (entry.count === '') return { error: m.router_say_how_long() };
		if (own === null) return { error: m.router_whole_number() };
		const choice = quote(router, own);
		if (!choice) return { error: m.router_choose_from({ bounds: boundsText(router) }) };
		return {
			choice,
			own: true,
			seen: own === entry.asked && entry.quoted === String(choice.amount) && onButton(choice)
		};
	}
	const [duration = '', price = ''] = entry.time.split(' ');
	if (duration === '') return { error: m.router_choose_time() };
	const choice = quote(router, duration);
	if (!choice) return { error: m.router_choose_from({ bounds: boundsText(router) }) };
	return { choice, own: false, seen: price === String(choice.amount) && onButton(choice) };
}
