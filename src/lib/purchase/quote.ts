import {
	durationProblem,
	durationSeconds,
	formatDuration,
	hourlyProblem,
	parseDuration,
	readDurationName
} from '../domain/time.ts';
import { methodName, methodTitle } from '../format/words.ts';
import { ANY_AMOUNT, type AmountRule, amountProblem, offeredMethods } from '../domain/payment-methods.ts';
import { currencyExponent, formatMoney, priceForSeconds, toMajor, toMinor } from '../domain/money.ts';
import { type Limits, cheapestUnlimited, fitsPass } from '../domain/offers.ts';
import { plainText } from '../domain/text.ts';
import * as m from '../i18n/messages.js';
import { apart, numberText } from '../i18n/intl.ts';
import { currentLocale } from '../i18n/current.ts';
import type { Locale } from '../i18n/locales.ts';

/**
 * The pay form: what a router sells at which price, which of it a buyer has chosen, and the words for both. Pages, their
 * script and the server share it, so a form shows the price that its order is checked against.
 */

/** The fields of a router that decide a price. `price` is per hour in major units of `currency`. */
export interface PricedRouter {
	price: number;
	currency: string;
	min_duration: string;
	/** The longest time at the hourly price. */
	max_duration: string;
	payment_methods?: string[];
	/** Of the API's router, in major units. */
	payment_limits?: { payment_method: string; step: number; min: number; max: number }[];
	/** Of the API's router: durations at prices of their own. */
	offers?: readonly PricedOffer[];
	/** false: only the offers are sold. */
	hourly?: boolean;
	/** Devices of a pass, unless the offer has its own number. */
	max_devices?: number;
}

interface PricedOffer extends Limits {
	id: number;
	name: string;
	duration: string;
	price: number;
	available: boolean;
}

/** Value of the form's field `time` for a typed count and unit. */
export const OWN_TIME = 'own';
const UNITS = ['m', 'h', 'd', 'w'];

/** Joins "90" and "m" to "90m". Returns null for anything but a whole count of a unit. */
export function ownDuration(count: string, unit: string): string | null {
	const digits = plainText(count).replace(/^0+(?=\d)/, '');
	return /^[1-9]\d{0,4}$/.test(digits) && UNITS.includes(unit) ? digits + unit : null;
}

type Charging = Pick<PricedRouter, 'currency' | 'payment_methods' | 'payment_limits'>;

function ruleOf({ currency, payment_limits = [] }: Charging, method: string): AmountRule {
	const limit = payment_limits.find(({ payment_method }) => payment_method === method);
	if (!limit) return ANY_AMOUNT;
	const minor = (major: number) => Math.round(major * 10 ** currencyExponent(currency));
	return { stepMinor: minor(limit.step), minMinor: minor(limit.min), maxMinor: minor(limit.max) };
}

/** Returns why a method of a router cannot charge an amount in major units; null if it can. */
const methodProblem = (router: Charging, method: string, amount: number) =>
	amountProblem(Math.round(amount * 10 ** currencyExponent(router.currency)), ruleOf(router, method));

/** Lists the offered methods of a router that can charge an amount in major units. */
export const chargingMethods = (router: Charging, amount: number): string[] =>
	offeredMethods(router.payment_methods ?? []).filter(
		(method) => methodProblem(router, method, amount) === null
	);

const isUnpayable = (router: Charging, amount: number): boolean =>
	(router.payment_methods ?? []).length > 0 && chargingMethods(router, amount).length === 0;

const offersOnSale = (router: PricedRouter): PricedOffer[] =>
	(router.offers ?? []).filter(
		({ available, duration, price }) =>
			available && durationProblem(router, duration) === null && !isUnpayable(router, price)
	);

const DAY_SECONDS = 24 * 60 * 60;

export function lowestOffer(router: PricedRouter): number | null {
	const prices = offersOnSale(router).map(({ price }) => price);
	return prices.length > 0 ? Math.min(...prices) : null;
}

/** Lists at most three offers for a poster, in the order of sale: the cheapest, the cheapest per hour, and a day. */
export function usefulOffers(router: PricedRouter): PricedOffer[] {
	// Hours of sale change while a poster hangs.
	const offers = offersOnSale({
		...router,
		offers: (router.offers ?? []).map((offer) => ({ ...offer, available: true }))
	});
	const cheapest = [...offers].sort((a, b) => a.price - b.price)[0];
	const day = offers.find(({ duration }) => durationSeconds(duration) === DAY_SECONDS);
	const first = [cheapest, cheapestPerHour(offers), day, ...offers].filter((offer) => offer != null);
	const chosen = [...new Set(first)].slice(0, 3);
	return offers.filter((offer) => chosen.includes(offer));
}

/** Returns null if there is nothing to compare. */
function cheapestPerHour(offers: readonly PricedOffer[]): PricedOffer | null {
	const perSecond = ({ price, duration }: PricedOffer) => price / durationSeconds(duration);
	const [cheapest, next] = [...offers].sort((a, b) => perSecond(a) - perSecond(b));
	return cheapest && next ? cheapest : null;
}

/** Finds the offer that a typed duration buys. */
const usualOffer = (router: PricedRouter, duration: string): PricedOffer | null =>
	cheapestUnlimited(
		offersOnSale(router),
		{ seconds: parseDuration(duration)?.seconds ?? 0, maxDevices: router.max_devices ?? 1 },
		({ price }) => price
	);

/** Returns a router with what it sells to a pass. */
export function sellingTo<Router extends PricedRouter>(router: Router, pass: Limits): Router {
	const offers = (router.offers ?? []).filter((offer) => fitsPass(offer, pass));
	return { ...router, hourly: router.hourly !== false && fitsPass({}, pass), offers };
}

export const sellsNothing = (router: PricedRouter): boolean =>
	router.hourly === false && offersOnSale(router).length === 0;

/** Returns the price of a duration as `findPrice` does, but null if no payment method can charge it. */
export function payablePrice(router: PricedRouter, duration: string): number | null {
	const amount = findPrice(router, duration);
	return amount === null || isUnpayable(router, amount) ? null : amount;
}

/** Returns the price of a duration in major units; null if it is invalid, out of limits or not sold. */
function findPrice(router: PricedRouter, duration: string): number | null {
	const seconds = parseDuration(duration)?.seconds;
	if (seconds === undefined) return null;
	const offer = usualOffer(router, duration);
	if (offer !== null || router.hourly === false) return offer?.price ?? null;
	if (hourlyProblem(router, duration) !== null) return null;
	const perHour = toMinor(router.price, router.currency);
	return perHour === null ? null : toMajor(priceForSeconds(perHour, seconds), router.currency);
}

/** A duration with its price: `amount` in major units, `money` as text. */
export interface TimeChoice {
	duration: string;
	words: string;
	amount: number;
	money: string;
	/** Not every payment method of the router can charge it. */
	partly?: true;
	/** What it contains beside its name: "3 devices, 5 Mbit/s". */
	terms: string;
	/** The offer that is bought. */
	offer?: { id: number; name: string; isCheapest: boolean };
}

/** Prices for the form. The server makes the texts, because old phones lack the language data. */
export interface PricedForm extends Required<PricedRouter> {
	/** The offers of the router; without any, common durations at the hourly price. */
	choices: TimeChoice[];
	bounds: string;
	perHour: string;
}

const COMMON_DURATIONS = ['30m', '1h', '3h', '6h', '1d', '1w'];
const USUAL_DURATION = '1h';

/** Prices a duration at a router. Returns null if it is invalid, outside the router's limits or cannot be charged. */
export function quote(router: PricedRouter, duration: string): TimeChoice | null {
	const offer = usualOffer(router, duration);
	if (offer) return offerChoice(router, offer, duration);
	const amount = payablePrice(router, duration);
	if (amount === null) return null;
	const terms = joinWords(listLimits({ max_devices: devicesToName(router, {}) }));
	return { ...choiceOf(router, duration, amount), terms };
}

/** Prices an offer by its id. Returns null unless it has this duration and is on sale. */
export function quoteOffer(router: PricedRouter, duration: string, id: number): TimeChoice | null {
	const offer = offersOnSale(router).find((one) => one.id === id);
	if (!offer || durationSeconds(offer.duration) !== parseDuration(duration)?.seconds) return null;
	return offerChoice(router, offer, duration);
}

/** @param duration the time of the offer, as the buyer wrote it */
function offerChoice(router: PricedRouter, offer: PricedOffer, duration = offer.duration): TimeChoice {
	const { id, price } = offer;
	const isCheapest = cheapestPerHour(offersOnSale(router))?.id === id;
	return {
		...choiceOf(router, duration, price),
		terms: formatOfferTerms({ ...offer, max_devices: devicesToName(router, offer) }),
		offer: { id, name: nameOffer(offer), isCheapest }
	};
}

/** Returns the devices of an offer, or of time by the hour; null if everything is for one device. */
function devicesToName(router: PricedRouter, { max_devices }: Limits): number | null {
	const devicesOf = (limits: Limits) => limits.max_devices ?? router.max_devices ?? 1;
	const isForMore = [...offersOnSale(router), {}].some((sold) => devicesOf(sold) > 1);
	return isForMore ? devicesOf({ max_devices }) : null;
}

function choiceOf(router: PricedRouter, duration: string, amount: number): Omit<TimeChoice, 'terms'> {
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

/** Lists the offers; without any, common durations, shortest first, with narrow limits the shortest allowed. */
export function timeChoices(router: PricedRouter): TimeChoice[] {
	const offers = offersOnSale(router);
	if (offers.length > 0) return offers.map((offer) => offerChoice(router, offer));
	const choices = COMMON_DURATIONS.map((duration) => quote(router, duration)).filter(
		(choice) => choice !== null
	);
	if (choices.length > 0) return choices;
	const shortest = quote(router, router.min_duration);
	return shortest ? [shortest] : [];
}

/** Chooses the default: one hour, else the shortest. */
export const usualChoice = (choices: readonly TimeChoice[]): TimeChoice | null =>
	choices.find(({ duration }) => duration === USUAL_DURATION) ?? choices[0] ?? null;

/** Allows a line break after the currency, for large figures on narrow screens. */
export const breakable = (money: string): string => money.replace('\u00a0', ' ');

export const describeForm = <Router extends PricedRouter>(router: Router): Router & PricedForm => ({
	...{ payment_methods: [], payment_limits: [], offers: [], hourly: true, max_devices: 1 },
	...router,
	choices: timeChoices(router),
	bounds: boundsText(router),
	perHour: m.router_per_hour({ money: formatMoney(router.price, router.currency) })
});

/** Returns the price of a router in a few words: "from UGX 200" with offers, else "UGX 500 an hour". */
export const priceText = (router: PricedRouter): string =>
	shortPrice({ ...router, lowest: lowestOffer(router) });

/** @param lowest the lowest price of its offers; null without any */
export function shortPrice(router: { price: number; currency: string; lowest: number | null }): string {
	const { price, currency, lowest } = router;
	return lowest === null
		? m.router_per_hour({ money: formatMoney(price, currency) })
		: m.router_price_from({ money: formatMoney(lowest, currency) });
}

/** The amount of `shortPrice` without its currency, for a mark on the map. */
export const amountText = ({ price, lowest }: { price: number; lowest: number | null }): string =>
	numberText(lowest ?? price, { maximumFractionDigits: 2 });

function unquotedText(router: PricedRouter, duration: string): string {
	const amount = findPrice(router, duration);
	const [method] = offeredMethods(router.payment_methods ?? []);
	const problem = amount === null || method === undefined ? null : chargeText(router, method, amount);
	return problem ?? m.router_choose_from({ bounds: boundsText(router) });
}

export function chargeText(router: PricedRouter, method: string, amount: number): string | null {
	const problem = methodProblem(router, method, amount);
	if (problem === null) return null;
	const limit = router.payment_limits?.find(({ payment_method }) => payment_method === method);
	const money = (major: number) => formatMoney(major, router.currency);
	if (problem === 'step') return m.router_charge_step({ method: methodName(method), money: money(amount) });
	const bound = (major: number) => ({ method: methodTitle(method), bound: money(major) });
	return problem === 'min'
		? m.router_charge_min(bound(limit?.min ?? 0))
		: m.router_charge_max(bound(limit?.max ?? 0));
}

export const boundsText = (router: PricedRouter): string =>
	m.router_bounds({
		shortest: formatDuration(router.min_duration),
		longest: formatDuration(router.max_duration)
	});

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

export const EMPTY_ENTRY: PayEntry = {
	time: '',
	count: '',
	unit: '',
	asked: '',
	quoted: '',
	pays: '',
	paymentMethod: '',
	phone: '',
	purchase: '',
	another: ''
};

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
	/** Id of the session whose open payment this one replaces; null if none is open. */
	instead: number | null;
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
	const choice = offer === '' ? quote(router, duration) : quoteOffer(router, duration, Number(offer));
	if (!choice) return offer === '' ? notSold(router, duration) : { error: m.router_offer_gone(), gone: true };
	return { choice, own: false, seen: price === String(choice.amount) && onButton(choice) };
}

const notSold = (router: PricedRouter, duration: string): WantedTime =>
	router.hourly === false
		? { error: m.router_offer_gone(), gone: true }
		: { error: unquotedText(router, duration) };

type NamedTime = Pick<PricedOffer, 'name' | 'duration'> & Limits;

/** Returns what an offer contains beside its name: "1 day, 3 devices, 5 Mbit/s". */
export function formatOfferTerms({ name, duration, ...limits }: NamedTime): string {
	const named = readDurationName(name, duration);
	const isTold = named !== null && (named.isExact || !named.locales.has(currentLocale()));
	return joinWords([...(isTold ? [] : [formatDuration(duration)]), ...listLimits(limits)]);
}

/** Returns the name of an offer; the duration in the reader's language if the name only repeats it in another one. */
export function nameOffer(
	{ name, duration }: Pick<NamedTime, 'name' | 'duration'>,
	locale: Locale = currentLocale()
): string {
	const named = readDurationName(name, duration);
	return named === null || named.locales.has(locale) ? name : formatDuration(duration, locale);
}

/** Names what an order bought: "Day, 3 devices", or "2 hours" without an offer. */
export const formatAgreed = (duration: string, offer: Omit<NamedTime, 'duration'> | null): string =>
	offer
		? joinWords([apart(nameOffer({ ...offer, duration })), formatOfferTerms({ ...offer, duration })])
		: formatDuration(duration);

const COMMAS: Partial<Record<Locale, string>> = { ar: '، ', am: '፣ ' };

/** Joins the parts that are not empty: "1 day, 3 devices". */
export const joinWords = (parts: readonly (string | undefined)[]): string =>
	parts.filter((part) => part).join(COMMAS[currentLocale()] ?? ', ');

/** Lists the limits of an offer: "3 devices", "5 Mbit/s", "20 GB". Units are the international symbols. */
function listLimits(limits: Limits): string[] {
	const { max_devices: devices, speed_down_kbps: down, speed_up_kbps: up, data_limit_mb: data } = limits;
	const speed = (kbps: number) => apart(`${numberText(kbps / 1000)}\u00a0Mbit/s`);
	const found: string[] = [];
	if (devices != null)
		found.push(devices === 1 ? m.router_one_device() : m.router_devices({ count: devices }));
	if (down != null) found.push(speed(down));
	if (up != null && up !== down) found.push(m.router_upload({ speed: speed(up) }));
	if (data != null) found.push(formatDataLimit(data));
	return found;
}

/** Formats an amount of data: "850 MB", "12.4 GB". @param megabytes whole MB (10^6 bytes) */
export const formatDataLimit = (megabytes: number): string =>
	apart(megabytes < 1000 ? `${numberText(megabytes)}\u00a0MB` : `${numberText(megabytes / 1000)}\u00a0GB`);
