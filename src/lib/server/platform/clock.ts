import { uptime } from 'node:os';

/** The source of time. Services never read Date, so that tests can move time. */
export interface Clock {
	/** Milliseconds since the epoch, as an integer that never decreases. */
	now(): number;
	/**
	 * Has `take` called when the machine's clock is set, with the step in ms (negative: back). This clock follows a step
	 * forward when `take` has ended.
	 */
	whenSet?(take: (ms: number) => Promise<void>): void;
}

/** Pace of the clock while it is ahead of the machine's. */
const CATCH_UP_PACE = 0.5;
/** Smaller steps cost nobody anything that matters. */
const NOTICED_MS = 30_000;

/**
 * Creates a clock that follows the machine's and never runs backwards.
 *
 * Clock set back: this clock goes on from its last value at half pace until the machine's has caught up. Nothing
 * waits for the lost hours, is refunded early or runs twice. Paid time ends late, by at most the step.
 *
 * Restart after that: stored times lie in the future. Sessions run longer by the step. The queue runs all waiting
 * jobs once (jobs.ts), so that no payment or refund waits.
 *
 * Clock set forward: it was behind, as on a machine without a battery until NTP answers. Time that was sold since the
 * start ends later by the step (`keepPaidTime` of billing/sessions/activate.ts).
 *
 * Several processes: each follows its own machine, so keep those clocks right (NTP).
 *
 * @param wall the machine's clock, in ms since the epoch
 * @param monotonic a clock that is never set, in ms
 * @param awake the same, but it goes on while the machine sleeps
 */
export function createClock(
	wall = () => Date.now(),
	monotonic = () => performance.now(),
	awake = () => uptime() * 1000
): Clock {
	let last = -Infinity;
	let readAt = monotonic();
	let sleptMs = awake() - readAt;
	let take: ((ms: number) => Promise<void>) | null = null;
	/** A step that is not taken yet. */
	let heldMs = 0;
	let isBehind = false;

	function notice(difference: number): void {
		if (!take || Math.abs(difference) < NOTICED_MS || last === -Infinity || (difference < 0 && isBehind))
			return;
		const slept = awake() - readAt - sleptMs;
		sleptMs += slept;
		const step = Math.round(difference - slept);
		if (Math.abs(step) < NOTICED_MS) return;
		isBehind = step < 0;
		if (step > 0) heldMs += step;
		void take(step).finally(() => {
			if (step > 0) heldMs -= step;
			last = Math.max(last, wall() - heldMs);
		});
	}

	return {
		now() {
			const elapsed = monotonic() - readAt;
			readAt += elapsed;
			const [at, expected] = [wall(), last + elapsed];
			notice(at - heldMs - expected);
			if (at >= expected) isBehind = false;
			last = Math.max(at - heldMs, last + elapsed * CATCH_UP_PACE);
			return Math.floor(last);
		},
		whenSet(call) {
			take = call;
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
