import * as m from '../i18n/messages.js';
import { OWN_TIME, ownDuration, type PricedRouter } from './price.ts';
import { boundsText, quote, type TimeChoice } from './quote.ts';

/**
 * The fields of the pay form as text: the buyer's entries, and the price beside them. The price travels with the form so
 * that the buyer is charged the amount that was shown.
 */
export interface PayEntry {
	/** "1h 500": a time and the price that was shown with it; or "own". */
	time: string;
	/** A typed time: so many of a unit. */
	count: string;
	unit: string;
	/** The typed time whose price was shown, e.g. "90m", and that price, e.g. "750". */
	asked: string;
	quoted: string;
	/** The amount on the button, where no script keeps it up to date; empty when it names none. */
	pays: string;
	paymentMethod: string;
	phone: string;
	/** Token of the purchase that this form begins: sent twice, it is one purchase. */
	purchase: string;
}

/** Sentences by field; `form` is about none of the fields. */
export type FormErrors = Partial<Record<'time' | 'paymentMethod' | 'phone' | 'form', string | undefined>>;

/** Longer than any valid entry: a longer text is cut, and then refused. */
const MAX_FIELD_LENGTH = 64;

/** Reads text fields of a form, trimmed and cut. */
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
	readFields(data, [
		'time',
		'count',
		'unit',
		'asked',
		'quoted',
		'pays',
		'paymentMethod',
		'phone',
		'purchase'
	]);

/** The value of a time's radio button: the time and its price. */
export const timeValue = (choice: TimeChoice): string => `${choice.duration} ${choice.amount}`;

/**
 * The time to buy. `seen` is false when its price was not on the page that was sent: then the page comes back with it
 * first.
 */
export type WantedTime = { choice: TimeChoice; own: boolean; seen: boolean } | { error: string };

export function wantedTime(router: PricedRouter, entry: PayEntry): WantedTime {
	const onButton = ({ amount }: TimeChoice) => entry.pays === '' || entry.pays === String(amount);
	const own = ownDuration(entry.count, entry.unit);
	// Without script, typing a time does not choose its radio button. Once its price was shown, the radio button decides.
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
