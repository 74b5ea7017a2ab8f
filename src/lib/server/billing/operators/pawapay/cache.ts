import type { Clock } from '#lib/server/platform/clock.ts';

/**
 * Something that the operator publishes and seldom changes: fetched once however many ask, kept for a while, and the
 * old one stays when it cannot be fetched again.
 */
export interface Cache<T> {
	/** What was fetched last, however old; null before. Without the network. */
	held(): T | null;
	/** Fresh if possible; null when it was never to be had. */
	get(): Promise<T | null>;
	/** Fetched now, unless that was tried a moment ago. */
	renewed(): Promise<T | null>;
}

/**
 * @param fetch null when it cannot be had now
 * @param times how long it is fresh, and how long nothing is fetched after an attempt to renew it
 */
export function createCache<T>(
	clock: Clock,
	fetch: () => Promise<T | null>,
	times: { freshMs: number; pauseMs: number }
): Cache<T> {
	let held: { value: T; at: number } | null = null;
	let triedAt: number | null = null;
	let fetching: Promise<void> | null = null;

	const within = (since: number, ms: number) => clock.now() - since < ms;

	async function fetchOnce(): Promise<void> {
		triedAt = clock.now();
		const value = await fetch();
		if (value !== null) held = { value, at: clock.now() };
	}

	async function renewed(): Promise<T | null> {
		if (fetching === null) {
			if (triedAt !== null && within(triedAt, times.pauseMs)) return held?.value ?? null;
			fetching = fetchOnce().finally(() => (fetching = null));
		}
		await fetching;
		return held?.value ?? null;
	}

	return {
		held: () => held?.value ?? null,
		get: async () => (held && within(held.at, times.freshMs) ? held.value : renewed()),
		renewed
	};
}
