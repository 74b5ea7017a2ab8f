const WITHIN_MS = 3_000;
const LOOK_MS = 50;

/**
 * Waits for what a page is about to show and what is on its way, as long as a person would. Whether it has come
 * is not said: the page shows what there is.
 */
export async function soon(isThere: () => Promise<boolean>): Promise<void> {
	const until = performance.now() + WITHIN_MS;
	while (performance.now() < until && !(await isThere())) {
		await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
	}
}
