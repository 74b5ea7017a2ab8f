/**
 * The one source of time. Services take a Clock and never read Date, so that a test can move time.
 *
 * `now` returns milliseconds since the epoch, as an integer, and never less than it returned before.
 */
export interface Clock {
	now(): number;
}

/** Pace of the clock while it is ahead of the machine's. */
const CATCH_UP_PACE = 0.5;

/**
 * Creates a clock that follows the machine's and never runs backwards.
 *
 * When the machine's clock is set back, this one goes on from its last value at half pace until the machine's has
 * caught up. So jobs, payments and sessions continue: nothing waits for the lost hours, is refunded early or runs
 * twice. Paid time ends late rather than early, by at most the step.
 *
 * A process that starts after the machine's clock was set back finds stored times in the future. Sessions then run
 * longer by the step, and the job queue runs all waiting jobs once (jobs.ts), so that no payment or refund waits.
 * Processes that share a database each follow their own machine: keep those clocks right (NTP).
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

/** The clock of this process. */
export const systemClock: Clock = createClock();

/** RFC 3339 in UTC with milliseconds, the wire's only form of an instant. */
export function isoTime(epochMs: number): string;
export function isoTime(epochMs: number | null): string | null;
export function isoTime(epochMs: number | null): string | null {
	return epochMs === null ? null : new Date(epochMs).toISOString();
}

/** A Date header counts whole seconds: on average it is half a second behind. */
const HALF_SECOND_MS = 500;

/** Milliseconds that a Date header is ahead of `now`; null without a readable one. */
export function dateOffsetMs(header: string | undefined, now: number): number | null {
	const at = Date.parse(header ?? '');
	return Number.isNaN(at) ? null : at + HALF_SECOND_MS - now;
}
