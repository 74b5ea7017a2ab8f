/**
 * An exact sliding window: the times of the last `limit` admitted requests of one caller, in a ring. A request is
 * admitted when the oldest of them is no longer within the window; so in any trailing window at most `limit` are
 * admitted, and a burst of `limit` is.
 */
export interface Decision {
	admitted: boolean;
	/** Requests that would still be admitted now. */
	remaining: number;
	/** Milliseconds until the oldest counted request leaves the window; 0 when none is counted. */
	resetMs: number;
}

export class SlidingWindow {
	readonly limit: number;
	readonly #windowMs: number;
	readonly #times: Float64Array;
	/** Slot of the oldest time, which the next one overwrites. */
	#head = 0;
	#newest = -Infinity;

	constructor(limit: number, windowMs: number) {
		this.limit = limit;
		this.#windowMs = windowMs;
		this.#times = new Float64Array(limit).fill(-Infinity);
	}

	/** Asks for one request at `now` (milliseconds); counts it only when it is admitted. */
	take(now: number): Decision {
		// A clock that was set back would refuse until it has caught up; the count starts anew instead.
		if (now < this.#newest) this.#times.fill(-Infinity);
		const since = now - this.#windowMs;
		const admitted = this.#at(0) <= since;
		if (admitted) {
			this.#times[this.#head] = now;
			this.#head = (this.#head + 1) % this.limit;
			this.#newest = now;
		}
		const first = this.#firstAfter(since);
		return {
			admitted,
			remaining: first,
			resetMs: first === this.limit ? 0 : this.#at(first) + this.#windowMs - now
		};
	}

	/** Whether nothing of it counts any more. */
	isIdle(now: number): boolean {
		return this.#newest <= now - this.#windowMs;
	}

	/** The time in a place of the ring, oldest first. */
	#at(place: number): number {
		return this.#times[(this.#head + place) % this.limit] ?? -Infinity;
	}

	/** First place, oldest first, whose time is after `since`; the limit when there is none. Times ascend. */
	#firstAfter(since: number): number {
		let low = 0;
		let high = this.limit;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.#at(middle) > since) high = middle;
			else low = middle + 1;
		}
		return low;
	}
}
