import type { Database, RateDecision, RateLimit, SharedRates } from '#lib/server/db/database.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';

/**
 * A ring buffer with the times of the last `limit` admitted requests; it grows as it is used. A burst of `limit` is
 * admitted.
 */
export class SlidingWindow {
	readonly limit: number;
	readonly #windowMs: number;
	readonly #times: number[] = [];
	/** Requests ever admitted. The time of the n-th is in slot n modulo the limit. */
	#admitted = 0;
	/** Admitted requests that have left the window. */
	#left = 0;
	#newest = -Infinity;

	constructor(limit: number, windowMs: number) {
		this.limit = limit;
		this.#windowMs = windowMs;
	}

	take(now: number): RateDecision {
		const since = now - this.#windowMs;
		while (this.#left < this.#admitted && this.#oldest() <= since) this.#left += 1;
		const admitted = this.#admitted - this.#left < this.limit;
		if (admitted) {
			this.#times[this.#admitted % this.limit] = now;
			this.#admitted += 1;
			this.#newest = now;
		}
		const counted = this.#admitted - this.#left;
		return {
			admitted,
			remaining: this.limit - counted,
			resetMs: counted === 0 ? 0 : this.#oldest() + this.#windowMs - now
		};
	}

	isIdle(now: number): boolean {
		return this.#newest <= now - this.#windowMs;
	}

	/** Requires at least one counted request. */
	#oldest(): number {
		return this.#times[this.#left % this.limit] ?? -Infinity;
	}
}

/** Admits at most `limit` requests per subject in any trailing window. */
export interface RateLimits {
	/**
	 * Counts the request only if it is admitted.
	 * @param windowMs a minute by default, at most LONGEST_WINDOW_MS
	 */
	take(subject: string, limit: number, windowMs?: number): Promise<RateDecision>;
	/**
	 * Runs tries above a limit one after another, so that the right one still passes. After a wrong one the next waits
	 * TURN_SECONDS, so that guessing stays slow. Counts in this process.
	 * @returns null if MAX_WAITING tries of the subject wait already
	 */
	inTurn<T>(subject: string, tried: () => Promise<Tried<T>>): Promise<T | null>;
	/** The second counts what the first admits. */
	takeBoth(first: RateLimit, second: RateLimit): Promise<[RateDecision, RateDecision?]>;
}

interface Tried<T> {
	result: T;
	isRight: boolean;
}

export const TURN_SECONDS = 5;
const MAX_WAITING = 4;

export const WINDOW_MS = 60_000;
export const LONGEST_WINDOW_MS = 15 * 60_000;

/** Takes a second limit only if the first admits. */
type TakeAll = (limits: [RateLimit, RateLimit?], windowMs: number) => ReturnType<SharedRates['take']>;

const FORGET_EVERY_MS = 10 * 60_000;

/** Above this count, idle windows are dropped at most once per SWEEP_EVERY_MS. */
const MAX_WINDOWS = 10_000;
const SWEEP_EVERY_MS = 1_000;

export function createRateLimits({ rates }: Database, clock: Clock, log: Log): RateLimits {
	const takeAll = rates ? shared(rates, clock, log) : local(clock);
	return {
		take: async (subject, limit, windowMs = WINDOW_MS) => (await takeAll([{ subject, limit }], windowMs))[0],
		takeBoth: (...limits) => takeAll(limits, WINDOW_MS),
		inTurn: createTurns()
	};
}

function createTurns(): RateLimits['inTurn'] {
	const lines = new Map<string, { waiting: number; last: Promise<unknown> }>();
	return async (subject, tried) => {
		const line = lines.get(subject) ?? { waiting: 0, last: Promise.resolve() };
		if (line.waiting >= MAX_WAITING) return null;
		lines.set(subject, line);
		line.waiting += 1;
		const own = line.last.then(tried);
		line.last = own
			.then(({ isRight }) => (isRight ? null : sleep(TURN_SECONDS * 1000, null, { ref: false })))
			.catch(() => null)
			.finally(() => {
				line.waiting -= 1;
				if (line.waiting === 0) lines.delete(subject);
			});
		return (await own).result;
	};
}

/** Counts in memory, for one process. A restart loses the counts. */
function local(clock: Clock): TakeAll {
	const windows = new Map<string, SlidingWindow>();
	let sweptAt = -Infinity;

	function sweep(): void {
		const now = clock.now();
		if (windows.size < MAX_WINDOWS || Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return;
		sweptAt = now;
		for (const [name, window] of windows) if (window.isIdle(now)) windows.delete(name);
	}

	function take({ subject, limit }: RateLimit, windowMs: number): RateDecision {
		let window = windows.get(subject);
		if (window?.limit !== limit) {
			sweep();
			windows.set(subject, (window = new SlidingWindow(limit, windowMs)));
		}
		return window.take(clock.now());
	}

	return async ([first, second], windowMs) => {
		const decision = take(first, windowMs);
		return second && decision.admitted ? [decision, take(second, windowMs)] : [decision];
	};
}

/** Counts in the database. If it fails, requests pass, because a limit must not stop a purchase. */
function shared(rates: SharedRates, clock: Clock, log: Log): TakeAll {
	let forgotAt = -Infinity;

	async function forgetIdle(): Promise<void> {
		if (clock.now() - forgotAt < FORGET_EVERY_MS) return;
		forgotAt = clock.now();
		await rates.forgetIdle(2 * LONGEST_WINDOW_MS);
	}

	return async ([first, second], windowMs) => {
		try {
			await forgetIdle();
			return await rates.take(second ? [first, second] : [first], windowMs);
		} catch (error) {
			log.warn({ err: error }, 'rate limit not counted');
			return [{ admitted: true, remaining: first.limit, resetMs: 0 }];
		}
	};
}

/** Whole seconds until a request leaves the window; 0 if none is counted. */
export const waitSeconds = ({ resetMs }: RateDecision) =>
	resetMs > 0 ? Math.max(1, Math.ceil(resetMs / 1000)) : 0;
