const WITHIN_MS = 3_000;
const POLL_MS = 50;

/** Waits until `isDone` returns true, at most 3 s. */
export async function pollUntil(isDone: () => Promise<boolean>): Promise<void> {
	const until = performance.now() + WITHIN_MS;
	while (performance.now() < until && !(await isDone())) {
		await new Promise((resolve) => setTimeout(resolve, POLL_MS));
	}
}
