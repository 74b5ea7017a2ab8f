const WITHIN_MS = 3_000;
const LOOK_MS = 50;

/** Waits until `isThere` is true, but only as long as a person would. */
export async function soon(isThere: () => Promise<boolean>): Promise<void> {
	const until = performance.now() + WITHIN_MS;
	while (performance.now() < until && !(await isThere())) {
		await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
	}
}
