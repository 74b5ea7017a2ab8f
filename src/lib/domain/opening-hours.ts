import { dateAt, instantAt, nextMorning } from './time.ts';

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type Weekday = (typeof WEEKDAYS)[number];

/**
 * Opening hours of a router as text, `mon 08:00-22:00, fri 18:00-02:00`, in the time zone of the installation. A missing
 * day is closed. An end that is not later than its start is on the next day.
 */
interface DayHours {
	day: Weekday;
	/** `HH:MM` */
	from: string;
	/** `HH:MM`, exclusive. */
	until: string;
}

/** When an offer is sold: null for every day, or for the whole day. */
export interface SaleHours {
	days: readonly Weekday[] | null;
	/** `HH:MM`; both or neither. */
	from: string | null;
	/** As in opening hours. */
	until: string | null;
}

/** A time in which a router stays open or closed. */
interface Spell {
	isOpen: boolean;
	since: number;
	/** Exclusive. */
	until: number;
}

const DAY_MINUTES = 24 * 60;
const MIDNIGHT = '00:00';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const DAY_HOURS = new RegExp(`^(?:${WEEKDAYS.join('|')}) ${TIME}-${TIME}$`);

/** Splits a text without judging it, so that a form shows again what was typed. */
export const splitHours = (text: string): DayHours[] =>
	text.split(', ').map((part) => {
		const [day, from = '', until = ''] = part.split(/[ -]/);
		return { day: day as Weekday, from, until };
	});

export const hoursText = (hours: readonly DayHours[]): string =>
	hours.map(({ day, from, until }) => `${day} ${from}-${until}`).join(', ');

/** Returns null if the text is invalid or names a day twice. */
export function parseHours(text: string): DayHours[] | null {
	const hours = splitHours(text);
	const isValid = text.split(', ').every((part) => DAY_HOURS.test(part));
	return isValid && new Set(hours.map(({ day }) => day)).size === hours.length ? hours : null;
}

/** The last spell of each text, because lists of routers ask for the same ones and local times are slow to compute. */
const spells = new Map<string, Spell>();
const MAX_SPELLS = 1000;

/** Returns when a router is next open: `instant` itself while it is open. */
export function nextOpen(hours: string, instant: number, timeZone: string): number {
	const spell = spellOf(hours, instant, timeZone);
	return spell.isOpen ? instant : spell.until;
}

export function isOnSale({ days, from, until }: SaleHours, instant: number, timeZone: string): boolean {
	if (days === null && from === null) return true;
	const hours = (days ?? WEEKDAYS).map((day) => ({ day, from: from ?? MIDNIGHT, until: until ?? MIDNIGHT }));
	return nextOpen(hoursText(hours), instant, timeZone) === instant;
}

/**
 * Returns when the business day ends: at closing time, which may be after midnight. While a router is closed, or if it
 * opens again at closing time, the next morning.
 */
export function endOfDay(hours: string | null, instant: number, timeZone: string): number {
	const spell = hours === null ? null : spellOf(hours, instant, timeZone);
	const closes = hours !== null && spell?.isOpen && nextOpen(hours, spell.until, timeZone) > spell.until;
	return closes ? spell.until : nextMorning(instant, timeZone);
}

function spellOf(hours: string, instant: number, timeZone: string): Spell {
	const key = `${timeZone} ${hours}`;
	let spell = spells.get(key);
	if (!spell || instant < spell.since || instant >= spell.until) {
		spell = spellAt(hours, instant, timeZone);
		if (spells.size >= MAX_SPELLS) spells.clear();
		spells.set(key, spell);
	}
	return spell;
}

function spellAt(text: string, instant: number, timeZone: string): Spell {
	const byDay = new Map(splitHours(text).map((hours) => [hours.day, hours]));
	const today = dateAt(instant, timeZone);
	const weekday = new Date(today).getUTCDay() + 6;
	// Yesterday may last until today, and the same day of next week may be the only one.
	for (let offset = -1; offset <= 7; offset += 1) {
		const hours = byDay.get(WEEKDAYS[(weekday + offset) % 7] as Weekday);
		if (!hours) continue;
		const endDay = hours.until > hours.from ? offset : offset + 1;
		const from = instantAt(today, offset * DAY_MINUTES + minutesOf(hours.from), timeZone);
		const until = instantAt(today, endDay * DAY_MINUTES + minutesOf(hours.until), timeZone);
		if (instant >= from && instant < until) return { isOpen: true, since: from, until };
		// The clocks may go forward over the whole span.
		if (instant < from && from < until) return { isOpen: false, since: instant, until: from };
	}
	return { isOpen: true, since: instant, until: instant };
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
