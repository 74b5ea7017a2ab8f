/** The result of one request to a window. */
export interface Decision {
	admitted: boolean;
	/** Requests that would still be admitted now. */
	remaining: number;
	/** Milliseconds until the oldest counted request leaves the window; 0 when none is counted. */
	resetMs: number;
}

/**
 * An exact sliding window: the times of the last `limit` admitted requests of one caller, in a ring buffer.
 *
 * Any trailing window admits at most `limit` requests, and a burst of `limit` is admitted.
 */
export class SlidingWindow {
	readonly limit: number;
	readonly #windowMs: number;
	readonly #times: Float64Array;
	/** Number of requests ever admitted; the time of the n-th is in slot n modulo the limit. */
	#admitted = 0;
	/** How many of them have left the window. */
	#left = 0;
	#newest = -Infinity;

	constructor(limit: number, windowMs: number) {
		this.limit = limit;
		this.#windowMs = windowMs;
		this.#times = new Float64Array(limit);
	}

	/** Counts a request at `now` (milliseconds) if it is admitted. */
	take(now: number): Decision {
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

	/** Whether no request counts any more. */
	isIdle(now: number): boolean {
		return this.#newest <= now - this.#windowMs;
	}

	/** Time of the oldest request that counts; there must be one. */
	#oldest(): number {
		return this.#times[this.#left % this.limit] ?? -Infinity;
	}
}
