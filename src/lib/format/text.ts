import { formatMoney } from '#lib/domain/money.ts';
import { DAY_MS } from '#lib/domain/time/time.ts';
import { apart, dateFormat } from '#lib/i18n/intl.ts';
import type { Period } from '#lib/domain/time/calendar.ts';

/** Formats an amount as "UGX 4,500", negative as "−UGX 4,500". */
export function money(major: number, currency: string): string {
	const text = formatMoney(Math.abs(major), currency);
	return apart(major < 0 ? `−${text}` : text);
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
