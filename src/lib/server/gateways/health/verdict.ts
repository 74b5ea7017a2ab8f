/** About three minutes. Counts checks instead of time, because a suspended process receives nothing. */
export const UNRESPONSIVE_CHECKS = 3;

interface Verdict {
	missedChecks: number;
	unresponsiveSince: number | null;
}

/** `isAlive`: a new sign of life. `isExpected`: one was due. `counts`: a missing one counts. */
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
