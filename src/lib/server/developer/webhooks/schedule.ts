import { HOUR_MS, MINUTE_MS, SECOND_MS } from '#lib/domain/time/time.ts';

/** Retry schedule of Standard Webhooks. */

/** The tenth attempt is the last. */
export const RETRY_DELAYS_MS: readonly number[] = [
	5 * SECOND_MS,
	5 * MINUTE_MS,
	30 * MINUTE_MS,
	2 * HOUR_MS,
	5 * HOUR_MS,
	10 * HOUR_MS,
	14 * HOUR_MS,
	20 * HOUR_MS,
	24 * HOUR_MS
];

const JITTER = 0.1;
/** Longest Retry-After that is respected. */
export const MAX_RETRY_AFTER_MS = HOUR_MS;
const HEEDED_STATUSES = [429, 503];

export interface FailedAttempt {
	/** Attempts so far, including this one. */
	tries: number;
	/** When it ended. */
	now: number;
	statusCode: number | null;
	retryAfter: string | null;
}

/** @returns when to try again, or null after the last attempt. @param random from 0 to below 1 */
export function nextAttemptAt(
	{ tries, now, statusCode, retryAfter }: FailedAttempt,
	random: number
): number | null {
	const delay = RETRY_DELAYS_MS[tries - 1];
	if (delay === undefined) return null;
	const jittered = now + Math.round(delay * (1 - JITTER + 2 * JITTER * random));
	const isHeeded = statusCode !== null && HEEDED_STATUSES.includes(statusCode);
	const asked = isHeeded ? parseRetryAfter(retryAfter, now) : null;
	return asked === null ? jittered : Math.max(jittered, Math.min(asked, now + MAX_RETRY_AFTER_MS));
}

/** Seconds, or an HTTP-date (RFC 9110, 10.2.3). */
function parseRetryAfter(text: string | null, now: number): number | null {
	if (text === null) return null;
	if (/^\d{1,9}$/.test(text.trim())) return now + Number(text) * SECOND_MS;
	const date = Date.parse(text);
	return Number.isNaN(date) ? null : date;
}
