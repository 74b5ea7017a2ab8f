/** Counts the idle time of a kiosk. It reads the clock, so a tablet that slept clears its screen when it wakes. */

type IdleKind = 'choosing' | 'waiting' | 'reading';

/** A screen of a kiosk, for its frame and its script. */
export interface KioskScreen {
	kind: IdleKind;
	/** Path of the start screen. */
	start: string;
	/** On the start screen. */
	idleSeconds?: number;
	/** The router cannot sell at the moment. */
	isClosed?: boolean;
	/** Shows a password. */
	isPaid?: boolean;
}

/** Long enough for the 20 s warning (WCAG 2.2, 2.2.1); short enough to clear an abandoned screen. */
export const IDLE_SECONDS = { min: 30, usual: 60, max: 10 * 60 } as const;

/** Reads `?idle=90` of a start address. An invalid value becomes the default or the nearest valid one. */
export function readIdleSeconds(search: URLSearchParams): number {
	const asked = search.get('idle') ?? '';
	const seconds = /^\d{1,6}$/.test(asked) ? Number(asked) : IDLE_SECONDS.usual;
	return Math.min(Math.max(seconds, IDLE_SECONDS.min), IDLE_SECONDS.max);
}

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
