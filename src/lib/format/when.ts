import { currentLocale } from '../i18n/current.ts';
import { intlLocales } from '../i18n/intl.ts';
import * as m from '../i18n/messages.js';
import { timeLeft, type TimeLeftWords } from './time-left.ts';

/** Times for buyers: page's language, installation's time zone, Gregorian calendar, 24-hour clock. */

const DAY_MS = 24 * 60 * 60 * 1000;

const dayIn = (timeZone: string) =>
	new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });

export function clockText(moment: Date, timeZone: string): string {
	const clock = { timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
	return new Intl.DateTimeFormat('en-GB', clock).format(moment);
}

/** Formats a moment: "16:40" today, "tomorrow, 16:40", else "Sunday 23 November, 16:40". */
export function momentText(moment: Date, now: Date, timeZone: string): string {
	const clock = clockText(moment, timeZone);
	const day = dayIn(timeZone);
	const that = day.format(moment);
	if (that === day.format(now)) return clock;
	if (that === day.format(new Date(now.getTime() + DAY_MS))) return m.common_tomorrow({ clock });
	const date = new Intl.DateTimeFormat(intlLocales(), {
		timeZone,
		weekday: 'long',
		day: 'numeric',
		month: 'long'
	}).format(moment);
	// Intl writes "Sunday 23 November" or "Sunday, 23 November", depending on its version.
	return m.common_day_and_time({ day: currentLocale() === 'en' ? date.replace(',', '') : date, clock });
}

export const timeLeftText = (seconds: number): string => timeLeft(seconds, timeLeftWords());

export const timeLeftWords = (): TimeLeftWords => ({
	minutes: m.common_left_minutes({ minutes: '{minutes}' }),
	hours: m.common_left_hours({ hours: '{hours}' }),
	hoursMinutes: m.common_left_hours_minutes({ hours: '{hours}', minutes: '{minutes}' }),
	days: m.common_left_days({ days: '{days}' }),
	daysHours: m.common_left_days_hours({ days: '{days}', hours: '{hours}' })
});
