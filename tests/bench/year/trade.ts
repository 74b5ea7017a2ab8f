import { HOUR_MS, buckets } from '../../../src/lib/domain/time.ts';

/** Decides what a synthetic year sells. The same request gives the same trade. */
export interface Sale {
	router: number;
	/** Index in PACKAGES; null for time at the hourly price. */
	offer: number | null;
	/** For numbers that a sale needs, from 0 to below 1. */
	chance: number;
	outcome: 'paid' | 'refunded' | 'failed';
	/** ms since the epoch */
	at: number;
}

interface Year {
	/** YYYY-MM-DD, the last day. */
	today: string;
	now: number;
	timeZone: string;
}

/** Offers of each router; prices in minor units. `weight` is the share of sales. */
export const PACKAGES = [
	{ id: 1, name: '30 minutes', duration: '30m', seconds: 1_800, price_minor: 200, active: true, weight: 30 },
	{ id: 2, name: '2 hours', duration: '2h', seconds: 7_200, price_minor: 800, active: true, weight: 25 },
	{ id: 3, name: 'Day', duration: '1d', seconds: 86_400, price_minor: 1_500, active: true, weight: 20 },
	{ id: 4, name: 'Week', duration: '1w', seconds: 604_800, price_minor: 6_000, active: true, weight: 5 }
] as const;

const HOURLY_WEIGHT = 20;
/** Sales by hour of the day: few at night, most in the evening. */
const HOUR_WEIGHTS = [2, 1, 1, 1, 1, 2, 4, 7, 9, 8, 8, 9, 11, 11, 9, 8, 9, 11, 13, 15, 14, 11, 7, 4];
const WEEKEND_WEIGHT = 1.3;
/** Of the last day, if the first has 1. */
const GROWTH = 1.6;
const FAILED_SHARE = 0.06;
const REFUNDED_SHARE = 0.01;
const DAYS = 365;

export function createRandom(seed: number): () => number {
	let state = seed;
	// Mulberry32, by Tommy Ettinger (public domain).
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function createPicker(weights: readonly number[], random: () => number): () => number {
	let sum = 0;
	const ends = weights.map((weight) => (sum += weight));
	return () => {
		const wanted = random() * sum;
		return ends.findIndex((end) => end > wanted);
	};
}

/** Returns the sales of the year before `now`, ascending. */
export function salesOf(routers: number, sales: number, { today, now, timeZone }: Year): Sale[] {
	const random = createRandom(2);
	const from = new Date(Date.parse(`${today}T00:00:00Z`) - (DAYS - 1) * 24 * HOUR_MS).toISOString();
	const days = buckets('daily', { from: from.slice(0, 10), to: today }, today, timeZone) ?? [];
	const isWeekend = (start: string) => [0, 6].includes(new Date(`${start}T00:00:00Z`).getUTCDay());
	const dayOf = createPicker(
		days.map(
			({ start }, index) => (1 + (GROWTH - 1) * (index / DAYS)) * (isWeekend(start) ? WEEKEND_WEIGHT : 1)
		),
		random
	);
	const hourOf = createPicker(HOUR_WEIGHTS, random);
	// A few routers sell most.
	const routerOf = createPicker(
		Array.from({ length: routers }, (_, index) => 1 / (index + 5)),
		random
	);
	const offerOf = createPicker([...PACKAGES.map(({ weight }) => weight), HOURLY_WEIGHT], random);
	const timeOf = (): number => {
		const at = (days[dayOf()]?.from ?? now) + Math.floor((hourOf() + random()) * HOUR_MS);
		return at < now ? at : timeOf();
	};
	const times = Array.from({ length: sales }, timeOf).sort((one, other) => one - other);
	return times.map((at) => {
		const [offer, luck] = [offerOf(), random()];
		return {
			at,
			router: routerOf(),
			offer: offer < PACKAGES.length ? offer : null,
			chance: random(),
			outcome: luck < FAILED_SHARE ? 'failed' : luck < FAILED_SHARE + REFUNDED_SHARE ? 'refunded' : 'paid'
		};
	});
}
