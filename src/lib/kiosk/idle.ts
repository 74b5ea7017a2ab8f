/**
 * Counts the time until a kiosk's screen is cleared. It reads the clock instead of counting ticks: a tablet that slept
 * clears its screen as soon as it wakes. A clock that is set back restarts the count.
 */

/** The purpose of a screen, which decides how long it stays. */
export type IdleKind = 'choosing' | 'waiting' | 'reading';

/** The warning appears so long before the screen is cleared: at least 20 s (WCAG 2.2, 2.2.1). */
export const WARN_SECONDS = 20;

/** Approving on a phone and scanning a code take longer than the next touch. */
const TIMES: Readonly<Record<IdleKind, number>> = { choosing: 1, waiting: 3, reading: 2 };

/** Seconds that a screen of that kind stays without a touch. */
export const allowedSeconds = (idleSeconds: number, kind: IdleKind): number => idleSeconds * TIMES[kind];

export interface IdleCount {
	/** Restarts the count: the screen was touched, or has changed. */
	here(): void;
	/** Whole seconds until the screen is cleared, at least 0. */
	left(allowed: number): number;
}

/** @param now the clock, in milliseconds */
export function idleCount(now: () => number = Date.now): IdleCount {
	let since = now();
	return {
		here() {
			since = now();
		},
		left(allowed) {
			const moment = now();
			if (moment < since) since = moment;
			return Math.max(0, Math.ceil(allowed - (moment - since) / 1000));
		}
	};
}
