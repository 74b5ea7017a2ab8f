/**
 * The verdict on a gateway: unresponsive after UNRESPONSIVE_CHECKS checks in a row without a sign of life. Elapsed time
 * alone never counts, because a process that was suspended or down has received nothing.
 */

/** About three minutes. */
export const UNRESPONSIVE_CHECKS = 3;

export interface Verdict {
	missedChecks: number;
	unresponsiveSince: number | null;
}

/**
 * Derives the verdict of a check from the one before.
 * @param isAlive there is a newer sign of life than at the last check
 * @param isExpected the gateway should have given one
 * @param counts a missing sign of life counts
 * @param seenAt last sign of life, in ms since the epoch
 */
export function judge(
	before: Verdict,
	observation: { isAlive: boolean; isExpected: boolean; counts: boolean; seenAt: number | null; now: number }
): Verdict {
	const { isAlive, isExpected, counts, seenAt, now } = observation;
	if (isAlive || !isExpected) return { missedChecks: 0, unresponsiveSince: null };
	if (before.unresponsiveSince !== null || !counts) return before;
	const missedChecks = before.missedChecks + 1;
	const isUnresponsive = missedChecks >= UNRESPONSIVE_CHECKS;
	return { missedChecks, unresponsiveSince: isUnresponsive ? Math.min(seenAt ?? now, now) : null };
}
