/** Spans of a purchase's page. */

/** From here on a buyer who saw no prompt is told where to look. */
export const HINT_AFTER_SECONDS = 30;

/** A page without script that waits for something that takes long. */
export const SLOW_SECONDS = 30;
/** A page without script that waits for something that is nearly there. */
export const SOON_SECONDS = 3;

/** A page without script asks quickly while the buyer is likely to be typing the PIN, and slower later. */
export function waitingRefreshSeconds(ageSeconds: number): number {
	if (ageSeconds < 60) return 3;
	if (ageSeconds < 3 * 60) return 5;
	return 10;
}

const WARN_SECONDS = 10 * 60;
const WARN_SHARE = 0.1;
const LEAST_WARN_SECONDS = 2 * 60;

/**
 * How long before its end a pass warns: ten minutes, for a short one a tenth of it, but long enough to pay.
 * @param totalSeconds all of the pass
 */
export const warnSeconds = (totalSeconds: number): number =>
	Math.min(WARN_SECONDS, Math.max(LEAST_WARN_SECONDS, WARN_SHARE * totalSeconds));
