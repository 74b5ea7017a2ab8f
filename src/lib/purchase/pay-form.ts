import * as m from '../i18n/messages.js';
import {
	OWN_TIME,
	type PricedRouter,
	type TimeChoice,
	ownDuration,
	quote,
	quoteOffer,
	unquotedText
} from './quote.ts';

/** The fields of the pay form as text. They include the price: the buyer pays the amount that was shown. */
export interface PayEntry {
	/** "1h 500": a duration and the price that was shown with it, then the id of the offer, if any; or "own". */
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
	/** The earlier order beside which the buyer wants another one (EarlierNotice); else empty. */
	another: string;
}

/** An earlier order of the number, to which the buyer can go instead of paying again. */
export interface EarlierNotice {
	title: string;
	texts: string[];
	/** Opens the earlier order, or asks for its code; null at a kiosk, which asks for none. */
	href: string | null;
	link: string;
	/** Label of the button that pays all the same. */
	button: string;
	/** The form with what was typed, which that button sends. */
	fields: Readonly<Record<string, string>>;
}

/** Problems by field; `form` is for problems of no single field. */
export type FormErrors = Partial<Record<'time' | 'paymentMethod' | 'phone' | 'form', string | undefined>>;

/** A price that the buyer must see before paying, and why. */
export interface Quotation {
	choice: TimeChoice;
	/** The time was typed. */
	own: boolean;
	why: string;
}

/** A form that came back. */
export interface ReturnedForm {
	entry: PayEntry;
	errors?: FormErrors | undefined;
	quoted?: Quotation | undefined;
	/** Instead of the form. */
	earlier?: EarlierNotice | undefined;
}

/** A purchase whose payment can be tried again. */
export interface PayAgain {
	amount: number;
	money: string;
	/** "Day, 3 devices" */
	words: string;
	methods: string[];
	/** Why other methods are missing; null if none are. */
	note: string | null;
	paymentMethod: string;
	/** As the payer types it. */
	phone: string;
}

/** Longer than any valid entry, and than a pasted message of an operator. Cut text fails validation. */
const MAX_FIELD_LENGTH = 1_000;

export function readTexts<Name extends string>(data: FormData, names: readonly Name[]): Record<Name, string> {
	const fields = names.map((name) => {
		const value = data.get(name);
		return [name, typeof value === 'string' ? value.trim().slice(0, MAX_FIELD_LENGTH) : ''];
	});
	return Object.fromEntries(fields) as Record<Name, string>;
}

/** Missing fields are empty. */
export const readPayEntry = (data = new FormData()): PayEntry =>
	readTexts(data, [
		...(['time', 'count', 'unit', 'asked', 'quoted', 'pays'] as const),
		...(['paymentMethod', 'phone', 'purchase', 'another'] as const)
	]);

/** Prices the time that `timeValue` names. Returns null if it is not sold. */
function namedChoice(router: PricedRouter, value: string): TimeChoice | null {
	const [duration = '', , offer] = value.split(' ');
	return offer === undefined ? quote(router, duration) : quoteOffer(router, duration, Number(offer));
}

export const timeValue = ({ duration, amount, offer }: TimeChoice): string =>
	`${duration} ${amount}${offer ? ` ${offer.id}` : ''}`;

/** If `seen` is false, the page must show the price before the buyer pays. `gone`: the offer is not sold any more. */
export type WantedTime = { choice: TimeChoice; own: boolean; seen: boolean } | { error: string; gone?: true };

export function wantedTime(router: PricedRouter, entry: PayEntry): WantedTime {
	const onButton = ({ amount }: TimeChoice) => entry.pays === '' || entry.pays === String(amount);
	const own = ownDuration(entry.count, entry.unit);
	// Without script, typing a time does not choose its radio button. The radio button decides once its price
	// was shown.
	const typed = entry.count !== '' && own !== entry.asked;
	if (entry.time === OWN_TIME || typed) {
		if (own === null) return { error: m.router_whole_number() };
		const choice = quote(router, own);
		if (!choice) return notSold(router, own);
		return {
			choice,
			own: true,
			seen: own === entry.asked && entry.quoted === String(choice.amount) && onButton(choice)
		};
	}
	const [duration = '', price = '', offer = ''] = entry.time.split(' ');
	if (duration === '') return { error: m.router_choose_time() };
	const choice = namedChoice(router, entry.time);
	if (!choice) return offer === '' ? notSold(router, duration) : { error: m.router_offer_gone(), gone: true };
	return { choice, own: false, seen: price === String(choice.amount) && onButton(choice) };
}

const notSold = (router: PricedRouter, duration: string): WantedTime =>
	router.hourly === false
		? { error: m.router_offer_gone(), gone: true }
		: { error: unquotedText(router, duration) };
