import type { RateDecision } from '#lib/server/db/database.ts';

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
