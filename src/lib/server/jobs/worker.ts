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
