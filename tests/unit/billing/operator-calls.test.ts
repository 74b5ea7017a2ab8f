/** What the core sees of an adapter that fails, or that is not called. */
import { describe, expect, it } from 'vitest';
import type { OperatorAdapter } from '#lib/server/billing/operators/operator.ts';
import { CROWDED, busy, unavailable } from '#lib/server/billing/operators/client.ts';
import { createOperators } from '#lib/server/billing/operators/registry.ts';
import { createLog } from '#lib/server/platform/log.ts';
import { NO_METRICS } from '#lib/server/platform/metrics.ts';

const CALLS = ['submit', 'refund', 'readStatus', 'readRefund'] as const;
const uncertain = { kind: 'uncertain', raw: 'adapter error' };

/** Outcomes of all calls. */
async function outcomes(withoutSlot: (...call: [string, () => unknown, unknown]) => unknown) {
	const called: string[] = [];
	const throwing = (call: string) => {
		const fail = async () => {
			called.push(call);
			throw new Error('a bug');
		};
		return [call, fail];
	};
	const adapter = { id: 'bad', ...Object.fromEntries(CALLS.map(throwing)) } as OperatorAdapter;
	const base = { jobs: { withoutSlot }, log: createLog('silent'), metrics: NO_METRICS };
	const guarded = createOperators(adapter, [], {} as never, base as never).forMethod('sandbox');
	const found = await Promise.all(CALLS.map((call) => guarded?.[call]?.({ reference: 'r' } as never)));
	return { found, called };
}

describe('an adapter', () => {
	it('that throws leaves a request uncertain and a read without an answer', async () => {
		const { found } = await outcomes((_, call) => call());
		const unread = unavailable('adapter error');
		expect(found).toEqual([uncertain, uncertain, unread, unread]);
	});

	it('for which too many requests wait is not called', async () => {
		const { found, called } = await outcomes(async (_system, _call, crowded) => crowded);
		const [sent, read] = [busy(CROWDED), unavailable(CROWDED)];
		expect(found).toEqual([sent, sent, read, read]);
		expect(called).toEqual([]);
	});
});
