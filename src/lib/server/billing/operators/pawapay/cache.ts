import type { Clock } from '#lib/server/platform/clock.ts';

export type Cache<T> = ReturnType<typeof createCache<T>>;

/**
 * Caches data that the operator rarely changes. Callers share one request; a failure keeps the old value.
 * @param fetch returns null if it fails
 */
export function createCache<T>(
	clock: Clock,
	fetch: () => Promise<T | null>,
	times: { freshMs: number; pauseMs: number }
) {
	let held: { value: T; at: number } | null = null;
	let triedAt: number | null = null;
	let fetching: Promise<void> | null = null;

	const within = (since: number, ms: number) => clock.now() - since < ms;

	async function fetchOnce(): Promise<void> {
		triedAt = clock.now();
		const value = await fetch();
		if (value !== null) held = { value, at: clock.now() };
	}

	/** Fetches now, unless the last attempt was within `pauseMs`. */
	async function renewed(): Promise<T | null> {
		if (fetching === null) {
			if (triedAt !== null && within(triedAt, times.pauseMs)) return held?.value ?? null;
			fetching = fetchOnce().finally(() => (fetching = null));
		}
		await fetching;
		return held?.value ?? null;
	}

	return {
		/** Returns the last value, however old, without a request. */
		held: () => held?.value ?? null,
		/** Returns a fresh value if possible; null if none was ever fetched. */
		get: async () => (held && within(held.at, times.freshMs) ? held.value : renewed()),
		renewed
	};
}
