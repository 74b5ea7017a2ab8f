import { type AmountFault, currencyName, formatMoney, formatReadings } from '#lib/domain/money.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, type Period } from '#lib/domain/time.ts';
import { apart, dateFormat } from '#lib/i18n/intl.ts';
import * as m from '#lib/i18n/messages.js';

/** Formats an amount as "UGX 4,500", negative as "−UGX 4,500". */
export function money(major: number, currency: string): string {
	const text = formatMoney(Math.abs(major), currency);
	return apart(major < 0 ? `−${text}` : text);
}

/** Says why a text is no price. */
export function amountProblem(fault: AmountFault, text: string, currency: string): string {
	switch (fault) {
		case 'too_fine':
			return m.owner_price_too_fine({ currency: currencyName(currency) });
		case 'other_currency':
			return m.owner_price_other_currency({ currency: currencyName(currency) });
		case 'ambiguous': {
			const [first = '', second = ''] = formatReadings(text, currency).map(apart);
			return m.owner_price_two_readings({ text: apart(text.trim()), first, second });
		}
		case 'not_a_number':
		case 'too_large':
			return m.owner_price_not_number();
	}
}

/** Formats a time as "21 Nov, 16:40". */
export const moment = (at: number, timeZone: string, more: Intl.DateTimeFormatOptions = {}): string =>
	dateFormat({
		...more,
		timeZone,
		day: 'numeric',
		month: 'short',
		hour: '2-digit',
		minute: '2-digit',
		hourCycle: 'h23'
	}).format(at);

/** As `moment`, with the year unless it is the present one. */
export function pastMoment(
	at: number,
	{ now, timeZone }: { now: number; timeZone: string },
	more: Intl.DateTimeFormatOptions = {}
): string {
	const yearOf = (time: number) => dateFormat({ timeZone, year: 'numeric' }).format(time);
	return moment(at, timeZone, yearOf(at) === yearOf(now) ? more : { ...more, year: 'numeric' });
}

const day = (date: string, options: Intl.DateTimeFormatOptions) =>
	dateFormat({ timeZone: 'UTC', ...options }).format(Date.parse(date));

/** Names a day in a row of days: "21 Nov". */
export const dayName = (date: string): string => day(date, { day: 'numeric', month: 'short' });

/** A Monday. */
const FIRST_WEEKDAY = '2026-11-23';

/** Names a day of the week, "Mon" for 0. */
export const weekdayName = (index: number): string =>
	dateFormat({ timeZone: 'UTC', weekday: 'short' }).format(Date.parse(FIRST_WEEKDAY) + index * DAY_MS);

/** Names a day, week or month: "Saturday 21 November 2026", "16 – 22 November 2026", "November 2026". */
export function periodName(period: Period, start: string, end: string): string {
	if (period === 'daily') {
		return day(start, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
	}
	if (period === 'monthly') return day(start, { month: 'long', year: 'numeric' });
	const range = dateFormat({ timeZone: 'UTC', dateStyle: 'long' });
	return range.formatRange(Date.parse(start), Date.parse(end));
}

const UNITS = [
	[DAY_MS, 'day'],
	[HOUR_MS, 'hour'],
	[MINUTE_MS, 'minute']
] as const;

/** Formats a past moment in English: "5 minutes ago"; after 31 days "12 Mar 2026". */
export function agoText(at: number, now: number, timeZone: string): string {
	const passed = now - at;
	if (passed >= 31 * DAY_MS) return dayText(at, timeZone);
	const unit = UNITS.find(([ms]) => passed >= ms);
	if (!unit) return 'just now';
	return new Intl.RelativeTimeFormat('en').format(-Math.floor(passed / unit[0]), unit[1]);
}

/** Formats a day: "12 Mar 2026". */
export const dayText = (at: number, timeZone: string): string =>
	dateFormat({
		timeZone,
		day: 'numeric',
		month: 'short',
		year: 'numeric'
	}).format(at);

/** Formats a moment with seconds: "12 Mar, 16:40:05". */
export const secondText = (at: number, timeZone: string): string =>
	moment(at, timeZone, { second: '2-digit' });

/** The id of a heading in its page's address: "Test every outcome" is `test-every-outcome`. */
export const slug = (text: string): string =>
	text
		.toLowerCase()
		.replace(/[^\w\s.-]/g, '')
		.trim()
		.replace(/[\s.]+/g, '-');
