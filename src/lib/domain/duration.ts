import { currentLocale } from '../i18n/current.ts';
import { numberText } from '../i18n/intl.ts';
import { unitWords } from '../i18n/unit-words.ts';

/** A duration on the wire is a count and a unit: minutes, hours, days of 24 h, weeks of 7 d. */
const PATTERN = /^([1-9][0-9]{0,4})([mhdw])$/;

const UNIT_SECONDS = { m: 60, h: 60 * 60, d: 24 * 60 * 60, w: 7 * 24 * 60 * 60 } as const;
const UNIT_WORDS = { m: 'minute', h: 'hour', d: 'day', w: 'week' } as const;

export type DurationUnit = keyof typeof UNIT_SECONDS;

export interface Duration {
	count: number;
	unit: DurationUnit;
	seconds: number;
}

/** Shortest and longest time that is sold anywhere; a router may narrow it. */
export const MIN_DURATION = '15m';
export const MAX_DURATION = '30d';

/** @returns null when the text is not `<count><m|h|d|w>` (lower case, no blanks, no leading zero). */
export function parseDuration(text: string): Duration | null {
	const match = PATTERN.exec(text);
	if (!match) return null;
	const count = Number(match[1]);
	const unit = match[2] as DurationUnit;
	return { count, unit, seconds: count * UNIT_SECONDS[unit] };
}

/** Seconds of a duration that is known to be well formed. @throws Error otherwise. */
export function durationSeconds(text: string): number {
	const duration = parseDuration(text);
	if (!duration) throw new Error(`Not a duration: ${text}`);
	return duration.seconds;
}

/** "2 hours", "1 day" in the current language; the text itself when it is not a duration. */
export function formatDuration(text: string): string {
	const duration = parseDuration(text);
	if (!duration) return text;
	const { count } = duration;
	const unit = UNIT_WORDS[duration.unit];
	const words = unitWords(currentLocale(), count, unit);
	if (words !== null) return words;
	try {
		return numberText(count, { style: 'unit', unit, unitDisplay: 'long', useGrouping: false });
	} catch {
		// Safari 14.0 knows no units. What people read there was made on the server.
		return text;
	}
}
