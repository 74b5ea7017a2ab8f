import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import * as store from './store.ts';
import { SlidingWindow, type Decision } from './window.ts';

/** Who may ask how often: at most `limit` requests of a subject in any trailing minute. */
export interface RateLimits {
	/** Asks for one request; a refused one does not count. */
	take(subject: string, limit: number): Promise<Decision>;
}

export const WINDOW_MS = 60_000;

/** Every so often the database drops those that are idle. */
const FORGET_EVERY_MS = 10 * 60_000;

/** Windows in memory before those that are idle are dropped, and how often that is tried. */
const MAX_WINDOWS = 10_000;
const SWEEP_EVERY_MS = 1_000;

export function createRateLimits(database: Database, clock: Clock, log: Log): RateLimits {
	return database.shared ? shared(database, clock, log) : local(clock);
}

/** One process: the count lives in its memory, and a restart begins it anew. */
function local(clock: Clock): RateLimits {
	const windows = new Map<string, SlidingWindow>();
	let sweptAt = -Infinity;

	function sweep(): void {
		const now = clock.now();
		if (windows.size < MAX_WINDOWS || Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return;
		sweptAt = now;
		for (const [name, window] of windows) if (window.isIdle(now)) windows.delete(name);
	}

	function windowOf(subject: string, limit: number): SlidingWindow {
		const known = windows.get(subject);
		if (known?.limit === limit) return known;
		sweep();
		const window = new SlidingWindow(limit, WINDOW_MS);
		windows.set(subject, window);
		return window;
	}

	return { take: async (subject, limit) => windowOf(subject, limit).take(clock.now()) };
}

/** Several processes: the database counts. When it cannot, requests pass: a limit must not stop a purchase. */
function shared(database: Database, clock: Clock, log: Log): RateLimits {
	let forgotAt = -Infinity;

	async function forgetIdle(): Promise<void> {
		if (clock.now() - forgotAt < FORGET_EVERY_MS) return;
		forgotAt = clock.now();
		await store.forgetIdle(database, 2 * WINDOW_MS);
	}

	return {
		async take(subject, limit) {
			try {
				await forgetIdle();
				return await store.takeShared(database, subject, limit, WINDOW_MS);
			} catch (error) {
				log.warn({ err: error }, 'rate limit not counted');
				return { admitted: true, remaining: limit, resetMs: 0 };
			}
		}
	};
}
