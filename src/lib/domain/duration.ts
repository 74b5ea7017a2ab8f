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

/** Limits of every router and offer; a router may set narrower ones. */
export const MIN_DURATION = '15m';
export const MAX_DURATION = '30d';
/** A day costs little more than a morning, so a new router sells longer times at the price of an offer only. */
export const NEW_HOURLY_MAX = '6h';

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

const UNITS = 'Units: m, h, d (24 hours), w (7 days).';
const named = (text: string) => `${formatDuration(text, 'en')} ("${text}")`;

interface SoldDurations {
	min_duration: string;
	/** The longest time at the hourly price. Offers may be longer. */
	max_duration: string;
}

/** Returns why a router sells a duration neither by the hour nor as an offer, as a sentence; null if it may. */
export function durationProblem(
	{ min_duration }: Pick<SoldDurations, 'min_duration'>,
	duration: string
): string | null {
	const seconds = durationSeconds(duration);
	const least = Math.max(durationSeconds(min_duration), durationSeconds(MIN_DURATION));
	if (seconds >= least && seconds <= durationSeconds(MAX_DURATION)) return null;
	return `This router sells from ${named(min_duration)} to ${named(MAX_DURATION)}. ${UNITS}`;
}

/** Returns why a router does not sell a duration at its hourly price, as a sentence; null if it does. */
export function hourlyProblem(router: SoldDurations, duration: string): string | null {
	const { min_duration, max_duration } = router;
	const problem = durationProblem(router, duration);
	if (problem !== null || durationSeconds(duration) <= durationSeconds(max_duration)) return problem;
	return `By the hour, this router sells from ${named(min_duration)} to ${named(max_duration)}. Longer times are sold as offers only. ${UNITS}`;
}
