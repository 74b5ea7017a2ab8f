import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Log } from '#lib/server/platform/log.ts';
import * as store from './store.ts';
import { SlidingWindow, type Decision } from './window.ts';

/** Admits at most `limit` requests of a subject in any trailing minute. */
export interface RateLimits {
	/** Counts one request if it is admitted; a refused one does not count. */
	take(subject: string, limit: number): Promise<Decision>;
}

export const WINDOW_MS = 60_000;

/** How often idle subjects are deleted from the database. */
const FORGET_EVERY_MS = 10 * 60_000;

/** Number of windows in memory above which idle ones are dropped, at most once per SWEEP_EVERY_MS. */
const MAX_WINDOWS = 10_000;
const SWEEP_EVERY_MS = 1_000;

export function createRateLimits(database: Database, clock: Clock, log: Log): RateLimits {
	return database.shared ? shared(database, clock, log) : local(clock);
}

/** One process: the count is in its memory and is lost at a restart. */
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

/** Several processes: the database counts. If it fails, requests pass, because a limit must not stop a purchase. */
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
