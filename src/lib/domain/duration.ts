import { currentLocale } from '../i18n/current.ts';
import { numberText } from '../i18n/intl.ts';
import type { Locale } from '../i18n/locales.ts';
import { unitWords } from '../i18n/unit-words.ts';

/** A count and a unit: minutes, hours, days of 24 h, weeks of 7 d. */
const PATTERN = /^([1-9][0-9]{0,4})([mhdw])$/;

const UNIT_SECONDS = { m: 60, h: 60 * 60, d: 24 * 60 * 60, w: 7 * 24 * 60 * 60 } as const;
const UNIT_WORDS = { m: 'minute', h: 'hour', d: 'day', w: 'week' } as const;

type DurationUnit = keyof typeof UNIT_SECONDS;
/** Smallest first. */
const DURATION_UNITS = ['m', 'h', 'd', 'w'] as const satisfies DurationUnit[];

interface Duration {
	count: number;
	unit: DurationUnit;
	seconds: number;
}

/** Limits of every router; a router may set narrower ones. */
export const MIN_DURATION = '15m';
export const MAX_DURATION = '30d';

/** Parses `<count><m|h|d|w>` (lower case, no blanks, no leading zero). Returns null for other texts. */
export function parseDuration(text: string): Duration | null {
	const match = PATTERN.exec(text);
	if (!match) return null;
	const count = Number(match[1]);
	const unit = match[2] as DurationUnit;
	return { count, unit, seconds: count * UNIT_SECONDS[unit] };
}

export function durationSeconds(text: string): number {
	const duration = parseDuration(text);
	if (!duration) throw new Error(`Not a duration: ${text}`);
	return duration.seconds;
}

/** Adds durations in the smallest of their units: "1h" and "30m" are "90m". @throws Error for an invalid one */
export function sumOfDurations(texts: readonly string[]): string {
	const seconds = texts.reduce((total, text) => total + durationSeconds(text), 0);
	const units = DURATION_UNITS.filter((unit) => texts.some((text) => text.endsWith(unit)));
	const unit = units[0] ?? 'm';
	return `${seconds / UNIT_SECONDS[unit]}${unit}`;
}

/** Formats a duration: "2 hours", "1 day". Returns the text itself if it is not a duration. */
export function formatDuration(text: string, locale: Locale = currentLocale()): string {
	const duration = parseDuration(text);
	if (!duration) return text;
	const { count } = duration;
	const unit = UNIT_WORDS[duration.unit];
	const words = unitWords(locale, count, unit);
	if (words !== null) return words;
	try {
		return numberText(count, { style: 'unit', unit, unitDisplay: 'long', useGrouping: false }, locale);
	} catch {
		// Safari 14.0 does not support units; its buyers read text from the server.
		return text;
	}
}

/** Returns why a router does not sell a duration, as a sentence; null if it does. */
export function durationProblem(
	{ min_duration, max_duration }: { min_duration: string; max_duration: string },
	duration: string
): string | null {
	const seconds = durationSeconds(duration);
	const least = Math.max(durationSeconds(min_duration), durationSeconds(MIN_DURATION));
	const most = Math.min(durationSeconds(max_duration), durationSeconds(MAX_DURATION));
	if (seconds >= least && seconds <= most) return null;
	const named = (text: string) => `${formatDuration(text, 'en')} ("${text}")`;
	return `This router sells from ${named(min_duration)} to ${named(max_duration)}. Units: m, h, d (24 hours), w (7 days).`;
}
