import { ApiLimited } from './api-client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import { SlidingWindow, WINDOW_MS } from '../rate-limits.ts';

/**
 * A part of the rate limit of a remote API. Calls within it leave the rest to purchases. The API of this process limits
 * each visitor instead (`limitVisitor`).
 */
export interface Quota {
	/** @throws ApiLimited when the part is used up */
	take(): void;
}

/** Calls per minute that every remote API allows at least (default rate plan). */
const REMOTE_LIMIT = 100;

/** @param part of the limit, from 0 to 1 */
export function createQuota(part: number, { remoteApi }: Config, clock: Clock): Quota {
	if (!remoteApi) return { take() {} };
	const window = new SlidingWindow(Math.floor(REMOTE_LIMIT * part), WINDOW_MS);
	return {
		take() {
			const { admitted, resetMs } = window.take(clock.now());
			if (!admitted) throw new ApiLimited(Math.max(1, Math.ceil(resetMs / 1000)));
		}
	};
}
