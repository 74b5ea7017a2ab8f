import { buckets, dateAt, isDate } from '#lib/format/calendar.ts';

/** Expiry choices of the form. */
export const LIFETIMES = [
	['never', 'Never'],
	['30', 'After 30 days'],
	['90', 'After 90 days'],
	['365', 'After 1 year'],
	['date', 'On a date']
] as const;

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Computes the expiry of a key in ms since the epoch.
 *
 * @param date `YYYY-MM-DD` for the lifetime `date`; the key works until the end of that day
 * @returns null for never; undefined if the entry is invalid
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

/** Today as `YYYY-MM-DD`, the earliest expiry date. */
export const today = (now: number, timeZone: string): string => dateAt(now, timeZone);
