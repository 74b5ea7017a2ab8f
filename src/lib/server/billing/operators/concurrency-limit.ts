import type { Clock } from '#lib/server/platform/clock.ts';

/**
 * Limits the jobs that call one operator at a time, in this process: an operator that hangs must not use all job
 * slots, because buyers who pay with another operator need them.
 */
export type OperatorLimit = ReturnType<typeof createOperatorLimit>;

/** A third of the job slots (jobs/jobs.ts). */
const MAX_PER_OPERATOR = 20;
const AGAIN_MS = 1_000;

export function createOperatorLimit(clock: Clock) {
	const running = new Map<string, number>();

	return {
		/** Runs a job's work, or puts it off. @returns when to run the job again, or null when it is done */
		async run(operator: string, work: () => Promise<number | null>): Promise<number | null> {
			const count = running.get(operator) ?? 0;
			if (count >= MAX_PER_OPERATOR) return clock.now() + AGAIN_MS;
			running.set(operator, count + 1);
			try {
				return await work();
			} finally {
				running.set(operator, (running.get(operator) ?? 1) - 1);
			}
		}
	};
}
