import { durationSeconds } from '../duration.ts';

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
