import { durationSeconds } from './time.ts';

/** The limits that an offer, a session or a pass can have. */
export const LIMITS = ['max_devices', 'speed_down_kbps', 'speed_up_kbps', 'data_limit_mb'] as const;

export type Limit = (typeof LIMITS)[number];
export type Limits = Partial<Record<Limit, number | null | undefined>>;

/** Returns all limits of an object; null sets none. */
export const limitsOf = (from: Limits) =>
	Object.fromEntries(LIMITS.map((limit) => [limit, from[limit] ?? null])) as Record<Limit, number | null>;

/** Whether time with these limits can be added to a pass: it has one speed, and time without a data limit would lift its own. */
export const fitsPass = (limits: Limits, pass: Limits): boolean =>
	(limits.speed_down_kbps ?? null) === (pass.speed_down_kbps ?? null) &&
	(limits.speed_up_kbps ?? null) === (pass.speed_up_kbps ?? null) &&
	(limits.data_limit_mb == null) === (pass.data_limit_mb == null);

/** Finds what a duration alone buys: the cheapest offer of it that adds no limit to those of the router, if any. */
export const cheapestUnlimited = <Offer extends Limits & { duration: string }>(
	offers: readonly Offer[],
	{ seconds, maxDevices }: { seconds: number; maxDevices: number },
	priceOf: (offer: Offer) => number
): Offer | null =>
	offers
		.filter((offer) => durationSeconds(offer.duration) === seconds && fitsPass(offer, {}))
		.filter(({ max_devices }) => (max_devices ?? Infinity) >= maxDevices)
		.sort((one, other) => priceOf(one) - priceOf(other))[0] ?? null;

export const MEGABYTE = 1_000_000;

/** A pass, as far as its data goes. */
interface DataUse {
	data_limit_mb: number | null;
	data_used_bytes: number | null;
}

export const dataLeft = ({ data_limit_mb: limit, data_used_bytes: used }: DataUse): number | null =>
	limit === null ? null : Math.max(0, limit * MEGABYTE - (used ?? 0));

/** Counts whole MB, so that both together are what was bought; null while no gateway has reported any. */
export function dataMb(pass: DataUse): { usedMb: number | null; leftMb: number | null } {
	const left = dataLeft(pass);
	const used = pass.data_used_bytes;
	return {
		usedMb: used === null ? null : Math.floor(used / MEGABYTE),
		leftMb: left === null || used === null ? null : Math.ceil(left / MEGABYTE)
	};
}

/**
 * 500 Mbit/s, more than a device gets here. In a minute that is less than 2^32 bytes, by which a counter jumps when it
 * falls below zero or gets a false high word.
 */
const MAX_BYTES_PER_SECOND = 62_500_000;
/** Reports may be late by this much. */
const SLACK_MS = 5_000;

/** Returns the shortest time (ms) in which a counter can grow by so many bytes; below 0 for a few. */
export const leastMs = (bytes: number): number => Math.ceil((bytes / MAX_BYTES_PER_SECOND) * 1000) - SLACK_MS;

export const isPossibleGrowth = (bytes: number, elapsedMs: number): boolean =>
	leastMs(bytes) <= Math.max(0, elapsedMs);

/** An offer as typed in the owner's form. Speeds are in Mbit/s, data is in GB. */
export interface OfferEntry {
	name: string;
	count: string;
	unit: string;
	price: string;
	devices: string;
	down: string;
	up: string;
	data: string;
	days: readonly string[];
	from: string;
	until: string;
	active: boolean;
}

/** The names of the fields that a problem can name. */
export type OfferField = keyof OfferEntry;

export interface OffersDraft {
	hourly: boolean;
	/** Whether also long times are sold at the hourly price. */
	long: boolean;
	/** Number of the change that the owner has seen. */
	version: number;
	rows: readonly OfferEntry[];
}
