/**
 * Whether a gateway is silent. It is decided by checks, a minute apart, that found nothing new of it, never by the time
 * that has passed since it was heard of: a machine that slept, a server that was away or a clock that was set has not
 * listened meanwhile, and would take every router off sale.
 */

export const CHECK_MS = 60_000;
/** Checks in a row without a sign of life after which a gateway is silent: about three minutes. */
export const QUIET_CHECKS = 3;
/** A check that comes sooner after the one before is none: a start, or a clock that was set. */
export const MIN_GAP_MS = 45_000;
/** A check that comes later does not count against anybody: in between nobody listened. */
export const MAX_GAP_MS = 150_000;

export interface Watch {
	missedChecks: number;
	unresponsiveSince: number | null;
}

export interface Look {
	/** There is a newer sign of life than at the check before. */
	isHeard: boolean;
	/** It ought to be heard of. */
	isExpected: boolean;
	/** Somebody listened since the check before. */
	counts: boolean;
	/** When it was last heard of, epoch milliseconds. */
	seenAt: number | null;
	now: number;
}

export function judge(before: Watch, { isHeard, isExpected, counts, seenAt, now }: Look): Watch {
	if (isHeard) return { missedChecks: 0, unresponsiveSince: null };
	if (!isExpected) return { missedChecks: 0, unresponsiveSince: null };
	// Once silent it stays so while it ought to be heard of and is not: nobody knows that it is well.
	if (before.unresponsiveSince !== null || !counts) return before;
	const missedChecks = before.missedChecks + 1;
	return {
		missedChecks,
		unresponsiveSince: missedChecks < QUIET_CHECKS ? null : Math.min(seenAt ?? now, now)
	};
}
