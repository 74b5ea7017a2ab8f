/**
 * A loop that looks for due work, and sleeps until there may be some. `tick` takes what is due and answers how
 * long to sleep in milliseconds; 0 looks again at once. Each kind of work that must not wait for another kind has
 * its own worker.
 */
export interface Worker {
	/** Looks now instead of after the pause. */
	nudge(): void;
	start(): void;
	/** Ends the loop; what ticks have started is theirs to wait for. */
	stop(): Promise<void>;
}

/** @param maxSleepMs pause after a tick that failed, which `onError` hears of */
export function createWorker(
	tick: () => Promise<number>,
	{ maxSleepMs, onError }: { maxSleepMs: number; onError: (error: unknown) => void }
): Worker {
	let stopped = false;
	let nudged = false;
	let wakeSleeper: (() => void) | null = null;
	let loop: Promise<void> | null = null;

	function nudge(): void {
		nudged = true;
		wakeSleeper?.();
	}

	async function sleep(milliseconds: number): Promise<void> {
		if (nudged || stopped) return;
		await new Promise<void>((resolve) => {
			const timer = setTimeout(resolve, milliseconds);
			wakeSleeper = () => {
				clearTimeout(timer);
				resolve();
			};
		});
		wakeSleeper = null;
	}

	async function run(): Promise<void> {
		while (!stopped) {
			nudged = false;
			let pause = maxSleepMs;
			try {
				pause = await tick();
			} catch (error) {
				onError(error);
			}
			if (pause > 0) await sleep(pause);
		}
	}

	return {
		nudge,
		start() {
			loop = run();
		},
		async stop() {
			stopped = true;
			nudge();
			await loop;
		}
	};
}
