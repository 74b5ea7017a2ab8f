import * as m from '../i18n/messages.js';
import { OWN_TIME, ownDuration, type PricedRouter } from './price.ts';
import { quote, unquotedText, type TimeChoice } from './quote.ts';

/** The fields of the pay form as text. They include the price: the buyer pays the amount that was shown. */
export interface PayEntry {
	/** "1h 500": a duration and the price that was shown with it; or "own". */
	time: string;
	count: string;
	unit: string;
	/** The typed duration whose price was shown and that price: "90m", "750". */
	asked: string;
	quoted: string;
	/** The amount on the button if no script updates it; empty if it shows none. */
	pays: string;
	paymentMethod: string;
	phone: string;
	/** Token of the new purchase: a form that is sent twice makes one purchase. */
	purchase: string;
}

/** Problems by field; `form` is for problems of no single field. */
export type FormErrors = Partial<Record<'time' | 'paymentMethod' | 'phone' | 'form', string | undefined>>;

/** Longer than any valid entry. Cut text fails validation. */
const MAX_FIELD_LENGTH = 64;

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

export const timeValue = (choice: TimeChoice): string => `${choice.duration} ${choice.amount}`;

/** If `seen` is false, the page must show the price before the buyer pays. */
export type WantedTime = { choice: TimeChoice; own: boolean; seen: boolean } | { error: string };

export function wantedTime(router: PricedRouter, entry: PayEntry): WantedTime {
	const onButton = ({ amount }: TimeChoice) => entry.pays === '' || entry.pays === String(amount);
	const own = ownDuration(entry.count, entry.unit);
	// Without script, typing a time does not choose its radio button. The radio button decides once its price
	// was shown.
	const typed = entry.count !== '' && own !== entry.asked;
	if (entry.time === OWN_TIME || typed) {
		if (entry.count === '') return { error: m.router_say_how_long() };
		if (own === null) return { error: m.router_whole_number() };
		const choice = quote(router, own);
		if (!choice) return { error: unquotedText(router, own) };
		return {
			choice,
			own: true,
			seen: own === entry.asked && entry.quoted === String(choice.amount) && onButton(choice)
		};
	}
	const [duration = '', price = ''] = entry.time.split(' ');
	if (duration === '') return { error: m.router_choose_time() };
	const choice = quote(router, duration);
	if (!choice) return { error: unquotedText(router, duration) };
	return { choice, own: false, seen: price === String(choice.amount) && onButton(choice) };
}
