/**
 * When a kiosk's screen is wiped. Counted by the clock and not by ticks, so that a tablet that slept wipes at once
 * when it wakes; a clock that is set back starts the count anew instead of stretching it.
 */

/** What a screen is for, which decides how long it may stand. */
export type IdleKind = 'choosing' | 'waiting' | 'reading';

/** From here on the screen says that it will be wiped: at least 20 s (WCAG 2.2, 2.2.1). */
export const WARN_SECONDS = 20;

/** Approving on one's own phone, and scanning a code with it, take longer than the next touch. */
const TIMES: Readonly<Record<IdleKind, number>> = { choosing: 1, waiting: 3, reading: 2 };

/** Seconds that a screen of that kind may stand without a touch. */
export const allowedSeconds = (idleSeconds: number, kind: IdleKind): number => idleSeconds * TIMES[kind];

export interface IdleCount {
	/** Somebody touched the screen, or it has just changed. */
	here(): void;
	/** Whole seconds until it is wiped, at least 0. */
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
