import { buckets, dateAt, isDate } from '#lib/format/calendar.ts';

/** How long a new key can live, as the form offers it. */
export const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After a year'],
	['date', 'At the end of a day']
] as const;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The moment at which a key ends.
 * @param date `YYYY-MM-DD`, where the lifetime is `date`: the key works until that day is over
 * @returns null for never, or undefined when it cannot be read
 */
export function expiryOf(
	lifetime: string,
	date: string,
	now: number,
	timeZone: string
): number | null | undefined {
	if (lifetime === 'never') return null;
	if (/^(30|90|365)$/.test(lifetime)) return now + Number(lifetime) * DAY_MS;
	if (lifetime !== 'date' || !isDate(date) || date.startsWith('9')) return undefined;
	return buckets('daily', { from: date, to: date }, date, timeZone)?.[0]?.until;
}

/** The first day that can be chosen. */
export const today = (now: number, timeZone: string): string => dateAt(now, timeZone);
