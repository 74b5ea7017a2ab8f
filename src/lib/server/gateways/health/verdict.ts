/**
 * The verdict on a gateway: unresponsive after UNRESPONSIVE_CHECKS checks in a row without a sign of life. Elapsed time
 * alone never counts, because a process that was suspended or down has received nothing.
 */

export const CHECK_MS = 60_000;
/** About three minutes. */
export const UNRESPONSIVE_CHECKS = 3;
/** An earlier check, for example after a restart, is skipped. */
export const MIN_GAP_MS = 45_000;
/** After a longer gap a check does not count, because nothing was received in between. */
export const MAX_GAP_MS = 150_000;

export interface Verdict {
	missedChecks: number;
	unresponsiveSince: number | null;
}

export interface Observation {
	/** There is a newer sign of life than at the last check. */
	isAlive: boolean;
	/** The gateway should have given one. */
	isExpected: boolean;
	/** A missing sign of life counts. */
	counts: boolean;
	/** Last sign of life, in ms since the epoch. */
	seenAt: number | null;
	now: number;
}

/** Derives the verdict of a check from the one before. */
export function judge(before: Verdict, { isAlive, isExpected, counts, seenAt, now }: Observation): Verdict {
	if (isAlive || !isExpected) return { missedChecks: 0, unresponsiveSince: null };
	if (before.unresponsiveSince !== null || !counts) return before;
	const missedChecks = before.missedChecks + 1;
	const isUnresponsive = missedChecks >= UNRESPONSIVE_CHECKS;
	return { missedChecks, unresponsiveSince: isUnresponsive ? Math.min(seenAt ?? now, now) : null };
}
