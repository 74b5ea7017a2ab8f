import { currentLocale } from '../i18n/current.ts';
import { joinedUnits, numberText, type TimeUnit, unitWords } from '../i18n/intl.ts';
import { type Locale, LOCALES } from '../i18n/locales.ts';

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

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

/** People sell a month for 30 days. */
const NAMED_SECONDS = { ...UNIT_SECONDS, month: 30 * UNIT_SECONDS.d };

/** What people write for a unit besides its words. */
const OTHER_WORDS: Record<Locale, Partial<Record<keyof typeof NAMED_SECONDS, string>>> = {
	en: { m: 'min mins', h: 'h hr hrs hourly', d: 'daily', w: 'weekly', month: 'month monthly' },
	fr: { m: 'min', h: 'h', d: 'journée', w: 'hebdomadaire', month: 'mois mensuel' },
	pt: { m: 'min', h: 'h', d: 'diário', w: 'semanal', month: 'mês mensal' },
	sw: { month: 'mwezi' },
	lg: { month: 'omwezi' },
	rw: { month: 'ukwezi' },
	am: { month: 'ወር' },
	ar: { month: 'شهر' }
};

/** One count of each plural form of the languages. */
const PLURALS = [1, 2, 3, 11];

interface NamedUnit {
	unit: keyof typeof NAMED_SECONDS;
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
	for (const locale of LOCALES) {
		for (const unit of [...DURATION_UNITS, 'month'] as const)
			for (const word of OTHER_WORDS[locale][unit]?.split(' ') ?? [])
				add(word, { unit, count: 1, locales: new Set([locale]) });
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
 * Reads a name that only repeats a duration, as "1 hour", "Daily", "30-min pass" or "Month" do. Returns the languages in
 * which it does, and whether it says how long that is; null for other names.
 */
export function readDurationName(
	name: string,
	duration: string
): { locales: ReadonlySet<Locale>; isExact: boolean } | null {
	const words = name.toLowerCase().replace(/-/g, ' ');
	const [digits] = /\d+/.exec(words) ?? [];
	const word = words.replace(/\d+|\bpasse?\b/g, '').trim();
	namedUnits ??= listNamedUnits();
	const named = namedUnits.get(word);
	const seconds = named && Number(digits ?? named.count) * NAMED_SECONDS[named.unit];
	return named && seconds === parseDuration(duration)?.seconds
		? { locales: named.locales, isExact: named.unit !== 'month' }
		: null;
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

/** Calendar arithmetic in a time zone. Dates are `YYYY-MM-DD`, instants ms since the epoch, weeks ISO. */
export type Period = 'daily' | 'weekly' | 'monthly';

interface Bucket {
	start: string;
	/** Inclusive. */
	end: string;
	/** Start of the first day. */
	from: number;
	/** End of the last day. */
	until: number;
}

/** Length of a report without a start date. */
const DEFAULT_COUNT: Record<Period, number> = { daily: 30, weekly: 12, monthly: 12 };

export const MAX_BUCKETS = 366;

/** Days since 1970-01-01. */
const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const dateOf = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** The arithmetic is correct between these dates. */
export const FIRST_DATE = '1970-01-01';
export const LAST_DATE = '9998-12-31';

/** Returns whether a text is an existing date; `2026-02-30` is not. */
export const isDate = (text: string) =>
	/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(dayOf(text)) && dateOf(dayOf(text)) === text;

/** Formatters by time zone: creating one is a hundred times slower than using it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(timeZone: string): Intl.DateTimeFormat {
	let clock = clocks.get(timeZone);
	if (!clock) {
		// Sweden writes "2026-11-21 16:40:05".
		clock = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
		clocks.set(timeZone, clock);
	}
	return clock;
}

/** Returns the zone's local time: `2026-11-21 16:40:05`. */
export const timeAt = (instant: number, timeZone: string): string => clockOf(timeZone).format(instant);

/** Returns the zone's local time at an instant as if it were UTC, in whole seconds. */
const localAt = (instant: number, timeZone: string): number =>
	Date.parse(`${timeAt(instant, timeZone).replace(' ', 'T')}Z`);

export const dateAt = (instant: number, timeZone: string): string =>
	dateOf(Math.floor(localAt(instant, timeZone) / DAY_MS));

const startOf = (date: string, timeZone: string): number => instantOf(dayOf(date) * DAY_MS, timeZone);

/** @param local the zone's local time as if it were UTC */
function instantOf(local: number, timeZone: string): number {
	const [before, after] = [local - DAY_MS, local + DAY_MS].map(
		(instant) => local - (localAt(instant, timeZone) - instant)
	) as [number, number];
	const moments = [before, after].filter((moment) => localAt(moment, timeZone) === local);
	// Two such moments: the clocks went back, and the first counts. None: they went forward over that time, which counts
	// as if they had not.
	return moments.length > 0 ? Math.min(...moments) : before;
}

/** @param minutes by the zone's clock since the start of the date; may be of another day */
export const instantAt = (date: string, minutes: number, timeZone: string): number =>
	instantOf(dayOf(date) * DAY_MS + minutes * MINUTE_MS, timeZone);

const DAY_MINUTES = 24 * 60;
const MORNING_MINUTES = 6 * 60;
const MORNING_AWAY_MS = 2 * HOUR_MS;

/** Returns the next six o'clock that is at least two hours away. */
export function nextMorning(now: number, timeZone: string): number {
	const today = dateAt(now, timeZone);
	const morning = instantAt(today, MORNING_MINUTES, timeZone);
	return morning - now >= MORNING_AWAY_MS
		? morning
		: instantAt(today, DAY_MINUTES + MORNING_MINUTES, timeZone);
}

/** Returns the instants from the start of one date to the end of another, exclusive. */
export const spanOfDates = (from: string, to: string, timeZone: string): { from: number; to: number } => ({
	from: startOf(from, timeZone),
	to: startOf(dateOf(dayOf(to) + 1), timeZone)
});

const QUARTER_HOUR_MS = 15 * 60 * 1000;

export const hourAt = (instant: number, timeZone: string): number =>
	Number(timeAt(instant, timeZone).slice(11, 13));

/** Returns the parts of a span in which the clocks show an hour of the day. */
export function spansOfHour(
	hour: number,
	{ from, until }: { from: number; until: number },
	timeZone: string
): { from: number; until: number }[] {
	const spans: { from: number; until: number }[] = [];
	// Zones differ by quarters of an hour.
	for (let at = from; at < until; at += QUARTER_HOUR_MS) {
		if (hourAt(at, timeZone) !== hour) continue;
		const last = spans.at(-1);
		if (last?.until === at) last.until += QUARTER_HOUR_MS;
		else spans.push({ from: at, until: at + QUARTER_HOUR_MS });
	}
	return spans;
}

function alignDown(day: number, period: Period): number {
	if (period === 'daily') return day;
	// 1970-01-01 was a Thursday, three days after a Monday.
	if (period === 'weekly') return day - ((((day + 3) % 7) + 7) % 7);
	return dayOf(`${dateOf(day).slice(0, 7)}-01`);
}

function step(day: number, period: Period, count: number): number {
	if (period === 'daily') return day + count;
	if (period === 'weekly') return day + 7 * count;
	const first = new Date(day * DAY_MS);
	return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + count, 1) / DAY_MS;
}

/**
 * Returns the whole buckets of a report, ascending and without gaps. Returns null if the span ends before it
 * starts or has more than MAX_BUCKETS.
 * @param span dates, inclusive; by default the last 30 days, 12 weeks or 12 months
 */
export function buckets(
	period: Period,
	span: { from: string | null; to: string | null },
	today: string,
	timeZone: string
): Bucket[] | null {
	const last = alignDown(dayOf(span.to ?? today), period);
	const first =
		span.from === null ? step(last, period, 1 - DEFAULT_COUNT[period]) : alignDown(dayOf(span.from), period);
	if (span.from !== null && span.to !== null && span.from > span.to) return null;
	if (first > last) return null;
	const result: Bucket[] = [];
	let from = startOf(dateOf(first), timeZone);
	for (let day = first; day <= last;) {
		if (result.length === MAX_BUCKETS) return null;
		const next = step(day, period, 1);
		const until = startOf(dateOf(next), timeZone);
		result.push({ start: dateOf(day), end: dateOf(next - 1), from, until });
		[day, from] = [next, until];
	}
	return result;
}
