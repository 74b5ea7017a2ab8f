/** Counts idle time. It reads the clock, so a tablet that slept clears its screen when it wakes. */

export type IdleKind = 'choosing' | 'waiting' | 'reading';

/** The warning appears this long before the screen is cleared: at least 20 s (WCAG 2.2, 2.2.1). */
export const WARN_SECONDS = 20;

/** Approving on a phone and scanning a code take longer than a touch. */
const TIMES: Readonly<Record<IdleKind, number>> = { choosing: 1, waiting: 3, reading: 2 };

export const allowedSeconds = (idleSeconds: number, kind: IdleKind): number => idleSeconds * TIMES[kind];

/** @param now the clock, in milliseconds */
export function idleCount(now: () => number = Date.now) {
	let since = now();
	return {
		here() {
			since = now();
		},
		/** Returns the whole seconds until the screen is cleared, at least 0. */
		left(allowed: number): number {
			const moment = now();
			if (moment < since) since = moment;
			return Math.max(0, Math.ceil(allowed - (moment - since) / 1000));
		}
	};
}
