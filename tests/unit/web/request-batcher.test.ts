import { describe, expect, it } from 'vitest';
import { createRequestBatcher } from '#lib/server/web/gateway-requests.ts';

/** A batcher whose work and pauses end on command. */
function batches() {
	const begun: { subject: string; questions: readonly number[]; end: (failure?: Error) => void }[] = [];
	const pauses: (() => void)[] = [];
	const ask = createRequestBatcher<number, string>(
		200,
		(subject, questions) =>
			new Promise((resolve, reject) => {
				const number = begun.length;
				const end = (failure?: Error) =>
					failure ? reject(failure) : resolve((question) => `${question} in ${number}`);
				begun.push({ subject, questions, end });
			}),
		() => new Promise<void>((resolve) => pauses.push(resolve))
	);
	return { ask, begun, pauses };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const asMany = (count: number) => Array.from({ length: count }, (_, number) => number);

describe('the request batcher', () => {
	it('however many ask, there is one round in the time, and each has the answer to its own question', async () => {
		const { ask, begun, pauses } = batches();
		const first = ask('a', 1);
		await settled();
		expect(begun).toHaveLength(1);
		const crowd = asMany(1_000).map((number) => ask('a', number));
		begun[0]?.end();
		expect(await first).toBe('1 in 0');
		await settled();
		// The time is not over.
		expect(begun).toHaveLength(1);
		pauses[0]?.();
		await settled();
		expect(begun).toHaveLength(2);
		begun[1]?.end();
		expect(await Promise.all(crowd)).toEqual(asMany(1_000).map((number) => `${number} in 1`));
	});

	it('no answer was found before its question came', async () => {
		const { ask, begun, pauses } = batches();
		void ask('a', 1);
		await settled();
		const late = ask('a', 2);
		pauses[0]?.();
		await settled();
		// One round at a time, also where it takes longer.
		expect(begun.map(({ questions }) => questions)).toEqual([[1]]);
		begun[0]?.end();
		await settled();
		expect(begun.map(({ questions }) => questions)).toEqual([[1], [2]]);
		begun[1]?.end();
		expect(await late).toBe('2 in 1');
	});

	it('another subject does not wait, and one that fails fails alone', async () => {
		const { ask, begun, pauses } = batches();
		const failing = ask('a', 1);
		const other = ask('b', 2);
		await settled();
		expect(begun.map(({ subject }) => subject)).toEqual(['a', 'b']);
		const next = ask('a', 3);
		begun[0]?.end(new Error('the database is away'));
		begun[1]?.end();
		await expect(failing).rejects.toThrow('away');
		expect(await other).toBe('2 in 1');
		for (const over of pauses) over();
		await settled();
		begun[2]?.end();
		expect(await next).toBe('3 in 2');
		// Later it begins at once again.
		pauses[2]?.();
		await settled();
		void ask('a', 4);
		await settled();
		expect(begun).toHaveLength(4);
	});
});
