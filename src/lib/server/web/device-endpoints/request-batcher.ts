import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs at most one batch per subject in `intervalMs`.
 * Requests that arrive during a batch share the next one, so no answer is older than its request.
 * @param answerAll answers a batch; returns the answer to each of its requests
 */
export function createRequestBatcher<Q, A>(
	intervalMs: number,
	answerAll: (subject: string, requests: readonly Q[]) => Promise<(request: Q) => A>,
	pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms, null, { ref: false })
): (subject: string, request: Q) => Promise<A> {
	/** Batches that have not started, by subject. */
	const waiting = new Map<string, { requests: Q[]; answer: Promise<(request: Q) => A> }>();
	/** Resolves when the subject's next batch may start. */
	const running = new Map<string, Promise<void>>();

	function addBatch(subject: string) {
		const previous = running.get(subject);
		const requests: Q[] = [];
		const answer = (async () => {
			await previous;
			waiting.delete(subject);
			return answerAll(subject, requests);
		})();
		const done = (async () => {
			await previous;
			await Promise.allSettled([answer, pause(intervalMs)]);
		})();
		running.set(subject, done);
		void done.then(() => {
			if (running.get(subject) === done) running.delete(subject);
		});
		const batch = { requests, answer };
		waiting.set(subject, batch);
		return batch;
	}

	return async (subject, request) => {
		const batch = waiting.get(subject) ?? addBatch(subject);
		batch.requests.push(request);
		return (await batch.answer)(request);
	};
}
