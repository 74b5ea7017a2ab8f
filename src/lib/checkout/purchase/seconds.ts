/** Refresh of a page without script if a result may take minutes. */
export const SLOW_SECONDS = 30;
/** Refresh of a page without script if a result is due within seconds. */
export const SOON_SECONDS = 3;

/** Refresh of a page without script: fast while the buyer types the PIN, slower later. */
export function waitingRefreshSeconds(ageSeconds: number): number {
	if (ageSeconds < 60) return 3;
	if (ageSeconds < 3 * 60) return 5;
	return 10;
}

const WARN_SECONDS = 10 * 60;
const WARN_SHARE = 0.1;
const LEAST_WARN_SECONDS = 2 * 60;

/** Ten minutes; a tenth of a short pass, but at least two minutes to pay. */
export const warnSeconds = (totalSeconds: number): number =>
	Math.min(WARN_SECONDS, Math.max(LEAST_WARN_SECONDS, WARN_SHARE * totalSeconds));
