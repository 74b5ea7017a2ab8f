import { ApiLimited } from './api-client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import { WINDOW_MS } from '../api/rate-limits/rate-limits.ts';
import { SlidingWindow } from '../api/rate-limits/window.ts';

/** A part of the portal's limit at the API, for what must never cost a buyer the call that buys. */
export interface Share {
	/** Counts one call. @throws ApiLimited when the part is used up */
	take(): void;
}

/** What every remote service allows at least in a minute (the default plan). */
const REMOTE_LIMIT = 100;

/** @param part of the limit, from 0 to 1 */
export function createShare(part: number, { rateLimits, remoteApi }: Config, clock: Clock): Share {
	const limit = remoteApi ? REMOTE_LIMIT : rateLimits.portal;
	const window = new SlidingWindow(Math.max(1, Math.floor(limit * part)), WINDOW_MS);
	return {
		take() {
			const { admitted, resetMs } = window.take(clock.now());
			if (!admitted) throw new ApiLimited(Math.max(1, Math.ceil(resetMs / 1000)));
		}
	};
}
