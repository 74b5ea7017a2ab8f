import { MINUTE_MS } from '#lib/format/time.ts';
import { timeAt } from '../../format/calendar.ts';

/** Days and hours of sale, in the time zone of the installation. */

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** null means every day, or the whole day. `from` later than `until` passes midnight and belongs to its first day. */
export interface SaleHours {
	days: readonly Weekday[] | null;
	/** `HH:MM` */
	from: string | null;
	/** `HH:MM`, exclusive. */
	until: string | null;
}

interface LocalTime {
	/** 0 is Monday. */
	day: number;
	/** `HH:MM` */
	time: string;
}

/** The last local time, because all offers of a response ask for the same one. */
let last = { minute: NaN, timeZone: '', local: { day: 0, time: '' } };

function localTime(instant: number, timeZone: string): LocalTime {
	const minute = Math.floor(instant / MINUTE_MS);
	if (last.minute !== minute || last.timeZone !== timeZone) {
		const [date = '', time = ''] = timeAt(instant, timeZone).split(' ');
		const day = (new Date(date).getUTCDay() + 6) % 7;
		last = { minute, timeZone, local: { day, time: time.slice(0, 5) } };
	}
	return last.local;
}

/** @param instant milliseconds since the epoch */
export function isOnSale({ days, from, until }: SaleHours, instant: number, timeZone: string): boolean {
	// Most offers are always on sale, and the local time is slow to compute.
	if (days === null && from === null) return true;
	const { day, time } = localTime(instant, timeZone);
	const sellsOn = (index: number) => days === null || days.some((name) => name === WEEKDAYS[index]);
	if (from === null || until === null) return sellsOn(day);
	if (from < until) return sellsOn(day) && time >= from && time < until;
	return time >= from ? sellsOn(day) : time < until && sellsOn((day + 6) % 7);
}
