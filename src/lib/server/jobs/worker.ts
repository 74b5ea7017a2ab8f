import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Creates a loop that starts due work and sleeps until more may be due.
 * @param tick starts due work; returns how long to sleep in ms
 * @param options.maxSleepMs pause after a tick that failed
 */
export function createWorker(
	tick: () => Promise<number>,
	{ maxSleepMs, onError }: { maxSleepMs: number; onError: (error: unknown) => void }
) {
	let stopped = false;
	let nudged = new AbortController();
	let loop: Promise<void> | null = null;
	const nudge = () => nudged.abort();

	async function run(): Promise<void> {
		while (!stopped) {
			// A nudge during the tick also ends the sleep after it.
			nudged = new AbortController();
			const pause = await tick().catch((error: unknown) => {
				onError(error);
				return maxSleepMs;
			});
			if (pause > 0) await sleep(pause, undefined, { signal: nudged.signal }).catch(() => {});
		}
	}

	return {
		/** Ends the current pause. */
		nudge,
		start(): void {
			loop = run();
		},
		/** Ends the loop. Does not wait for work that ticks started. */
		async stop(): Promise<void> {
			stopped = true;
			nudge();
			await loop;
		}
	};
}
