import { DAY_MS, dateAt, formatUnit, timeAt } from '#lib/domain/time.ts';
import { currentLocale } from '../i18n/current.ts';
import { dateFormat, joinedUnits } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';
import * as m from '../i18n/messages.js';
import { type TimeLeftWords, timeLeft } from './time-left.ts';
import {
	ANY_PAYMENT_METHOD,
	METHOD_NAMES,
	VOUCHER_METHOD,
	resolveMethod
} from '../domain/payment-methods.ts';

/** Times for buyers: page's language, installation's time zone, Gregorian calendar, 24-hour clock. */

export const clockText = (moment: Date, timeZone: string): string =>
	timeAt(moment.getTime(), timeZone).slice(11, 16);

/** Formats a moment: "16:40" today, "tomorrow, 16:40", else "Sunday 23 November, 16:40". */
export function momentText(moment: Date, now: Date, timeZone: string): string {
	const clock = clockText(moment, timeZone);
	const day = dateAt(moment.getTime(), timeZone);
	if (day === dateAt(now.getTime(), timeZone)) return clock;
	if (day === dateAt(now.getTime() + DAY_MS, timeZone)) return m.common_tomorrow({ clock });
	const date = dateFormat({
		timeZone,
		weekday: 'long',
		day: 'numeric',
		month: 'long'
	}).format(moment);
	// Intl writes "Sunday 23 November" or "Sunday, 23 November", depending on its version.
	return m.common_day_and_time({ day: currentLocale() === 'en' ? date.replace(',', '') : date, clock });
}

export const timeLeftText = (seconds: number): string => timeLeft(seconds, timeLeftWords());

/** Lists the texts of the counts up to the largest, each where it changes. */
function listUnitTexts(unit: 'minute' | 'hour' | 'day', largest: number): [number, string][] {
	const texts: [number, string][] = [];
	for (let count = 1; count <= largest; count += 1) {
		const text = (formatUnit(count, unit) ?? '{n}').replace(String(count), '{n}');
		if (texts.at(-1)?.[1] !== text) texts.push([count, text]);
	}
	return texts;
}

const wordsOf = new Map<Locale, TimeLeftWords>();

export function timeLeftWords(): TimeLeftWords {
	const locale = currentLocale();
	const words = wordsOf.get(locale) ?? {
		minute: listUnitTexts('minute', 59),
		hour: listUnitTexts('hour', 23),
		day: listUnitTexts('day', 31),
		joined: joinedUnits(locale)
	};
	wordsOf.set(locale, words);
	return words;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

const words = (slug: string) => capital(slug.replaceAll('_', ' '));

/** Names a payment method in the form: "MTN MoMo". A slug without a name gets plain words. */
export function methodChoice(slug: string): string {
	if (slug === ANY_PAYMENT_METHOD) return m.router_method_any();
	return slug === 'sandbox' ? m.router_method_test() : (METHOD_NAMES[slug] ?? words(slug));
}

/**
 * Names the operator that a payment is asked of: "MTN MoMo"; null while it is unknown.
 * @param phone E.164, names the operator of an open method
 */
export function operatorName(method: string, phone: string): string | null {
	const slug = resolveMethod(method, phone);
	const isNone = [ANY_PAYMENT_METHOD, 'sandbox', VOUCHER_METHOD].includes(slug);
	return isNone ? null : (METHOD_NAMES[slug] ?? words(slug));
}

/** Names a payment method in a sentence: as `operatorName`, or "mobile-money" while the operator is unknown. */
export const methodName = (method: string, phone = ''): string =>
	method === VOUCHER_METHOD ? m.common_voucher() : (operatorName(method, phone) ?? m.common_mobile_money());

/** As `methodName`, at the start of a line. */
export const methodTitle = (slug: string): string => capital(methodName(slug));
