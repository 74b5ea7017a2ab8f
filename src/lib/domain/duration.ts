import { currentLocale } from '../i18n/current.ts';
import { numberText } from '../i18n/intl.ts';
import { type Locale, LOCALES } from '../i18n/locales.ts';
import { joinedUnits, type TimeUnit, unitWords } from '../i18n/unit-words.ts';

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

/** Formats a count of a unit: "2 hours". Returns null where the engine has no words. */
export function formatUnit(count: number, unit: TimeUnit, locale: Locale = currentLocale()): string | null {
	const words = unitWords(locale, count, unit);
	if (words !== null) return words;
	try {
		return numberText(count, { style: 'unit', unit, unitDisplay: 'long', useGrouping: false }, locale);
	} catch {
		// Safari 14.0 does not support units; its buyers read text from the server.
		return null;
	}
}

const LARGER: Partial<Record<DurationUnit, DurationUnit>> = { m: 'h', h: 'd' };

/**
 * Formats a duration: "2 hours", "1 day 1 hour" for 25 hours. 24 hours stay. Returns the text itself if it is not a
 * duration.
 */
export function formatDuration(text: string, locale: Locale = currentLocale()): string {
	const duration = parseDuration(text);
	if (!duration) return text;
	const { count, unit } = duration;
	const larger = LARGER[unit];
	const size = larger ? UNIT_SECONDS[larger] / UNIT_SECONDS[unit] : Infinity;
	if (count < size || text === '24h') return formatUnit(count, UNIT_WORDS[unit], locale) ?? text;
	const rest = count % size;
	const whole = formatDuration(`${Math.floor(count / size)}${larger}`, locale);
	if (rest === 0) return whole;
	return joinedUnits(locale)
		.replace('{larger}', whole)
		.replace('{smaller}', formatDuration(`${rest}${unit}`, locale));
}

/** What people write for a unit besides its words. */
const ABBREVIATIONS: Record<string, { unit: DurationUnit; locales: readonly Locale[] }> = {
	min: { unit: 'm', locales: ['en', 'fr', 'pt'] },
	mins: { unit: 'm', locales: ['en'] },
	h: { unit: 'h', locales: ['en', 'fr', 'pt'] },
	hr: { unit: 'h', locales: ['en'] },
	hrs: { unit: 'h', locales: ['en'] }
};

/** One count of each plural form of the languages. */
const PLURALS = [1, 2, 3, 11];

interface NamedUnit {
	unit: DurationUnit;
	/** Of a word without a digit, such as the Arabic dual. */
	count: number;
	locales: Set<Locale>;
}

let namedUnits: Map<string, NamedUnit> | null = null;

/** Words of all languages for a unit: "hours", "heure", "saa". */
function listNamedUnits(): Map<string, NamedUnit> {
	const found = new Map<string, NamedUnit>();
	const add = (word: string, { unit, count, locales }: NamedUnit) => {
		const known = found.get(word) ?? { unit, count, locales: new Set() };
		for (const locale of locales) known.locales.add(locale);
		found.set(word, known);
	};
	for (const [word, { unit, locales }] of Object.entries(ABBREVIATIONS))
		add(word, { unit, count: 1, locales: new Set(locales) });
	for (const locale of LOCALES) {
		for (const unit of DURATION_UNITS) {
			for (const count of PLURALS) {
				const text = formatUnit(count, UNIT_WORDS[unit], locale)?.toLowerCase() ?? '';
				const word = text.replace(/\d+/, '').trim();
				add(word, { unit, count: word === text ? count : 1, locales: new Set([locale]) });
			}
		}
	}
	return found;
}

/**
 * Returns the languages in which a name only repeats a duration, as "1 hour", "Day" or "30 min" do; an empty set for
 * other names.
 */
export function languagesOfDuration(name: string, duration: string): ReadonlySet<Locale> {
	const [digits] = /\d+/.exec(name) ?? [];
	const word = name.toLowerCase().replace(/\d+/, '').trim();
	namedUnits ??= listNamedUnits();
	const named = namedUnits.get(word);
	const seconds = named && Number(digits ?? named.count) * UNIT_SECONDS[named.unit];
	return named && seconds === parseDuration(duration)?.seconds ? named.locales : new Set();
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
