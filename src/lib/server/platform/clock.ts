/** The source of time. Services never read Date, so that tests can move time. */
export interface Clock {
	/** Milliseconds since the epoch, as an integer that never decreases. */
	now(): number;
}

/** Pace of the clock while it is ahead of the machine's. */
const CATCH_UP_PACE = 0.5;

/**
 * Creates a clock that follows the machine's and never runs backwards.
 *
 * Clock set back: this clock goes on from its last value at half pace until the machine's has caught up. Nothing
 * waits for the lost hours, is refunded early or runs twice. Paid time ends late, by at most the step.
 *
 * Restart after that: stored times lie in the future. Sessions run longer by the step. The queue runs all waiting
 * jobs once (jobs.ts), so that no payment or refund waits.
 *
 * Several processes: each follows its own machine, so keep those clocks right (NTP).
 *
 * @param wall the machine's clock, in ms since the epoch
 * @param monotonic a clock that is never set, in ms
 */
export function createClock(wall = () => Date.now(), monotonic = () => performance.now()): Clock {
	let last = -Infinity;
	let readAt = monotonic();
	return {
		now() {
			const elapsed = monotonic() - readAt;
			readAt += elapsed;
			last = Math.max(wall(), last + elapsed * CATCH_UP_PACE);
			return Math.floor(last);
		}
	};
}

export const systemClock: Clock = createClock();

/** RFC 3339 in UTC with milliseconds, the only time format of the API. */
export function isoTime(epochMs: number): string;
export function isoTime(epochMs: number | null): string | null;
export function isoTime(epochMs: number | null): string | null {
	return epochMs === null ? null : new Date(epochMs).toISOString();
}

/** A Date header counts whole seconds: on average it is half a second behind. */
const HALF_SECOND_MS = 500;

/** Returns how far a Date header is ahead of `now`, in ms; null if it is missing or unreadable. */
export function dateOffsetMs(header: string | undefined, now: number): number | null {
	const at = Date.parse(header ?? '');
	return Number.isNaN(at) ? null : at + HALF_SECOND_MS - now;
}
