/** Refunds by Airtel Money, whose result nobody can read later. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { StatusOutcome } from '../../../../src/lib/server/billing/operators/operator.ts';
import {
	adapter,
	configure,
	settled,
	readingOf,
	refundOf,
	request,
	requestsTo,
	sentTo,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { AIRTEL } from '../../../support/billing/tested-operators.ts';

useOperator(AIRTEL);

/** A refund of a payment that was read as paid. */
const owed = (reference: string, status: StatusOutcome | null) =>
	refundOf(request({ reference }), {
		providerReference: status?.kind === 'succeeded' ? status.providerReference : null
	});

describe('a refund', () => {
	const REFUND = '/standard/v1/payments/refund';
	it.each([
		['v1', REFUND],
		['v2', '/standard/v2/payments/refund']
	])('uses the airtel_money_id, goes to %s, and ends with SUCCESS', async (version, path) => {
		configure({ AIRTEL_REFUND_VERSION: version });
		const { reference, status } = await settled();
		const refund = owed(reference, status);
		const outcome = await adapter.refund?.(refund);
		expect(outcome).toMatchObject({ kind: 'accepted', operatorReference: expect.stringMatching(/^CI/) });
		expect(sentTo(path)).toEqual([{ transaction: { airtel_money_id: refund.payment.providerReference } }]);
		const said = outcome?.kind === 'accepted' ? outcome.operatorReference : null;
		expect(await adapter.readRefund?.(readingOf(refund, said))).toMatchObject({
			kind: 'succeeded',
			providerReference: said
		});
		expect(simulator.ledger()).toMatchObject({ debited: 1_000, refunded: 1_000, refunds: 1 });
	});

	it('finds the airtel_money_id itself if the payment has none stored', async () => {
		const { reference } = await settled();
		expect((await adapter.refund?.(owed(reference, null)))?.kind).toBe('accepted');
	});

	it('with a lost answer needs a person: its result cannot be read', async () => {
		for (const submit of ['drop_after', 'error_after'] as const) {
			const { reference, status } = await settled({ refund: { submit } });
			const refund = owed(reference, status);
			expect((await adapter.refund?.(refund))?.kind, submit).toBe('uncertain');
			const read = await adapter.readRefund?.(readingOf(refund, null));
			expect(read).toMatchObject({
				kind: 'unreadable',
				cause: expect.stringMatching(/ the payment succeeded$/),
				raw: expect.stringContaining('"TS"')
			});
		}
		expect(adapter.capabilities.resubmitSameReferenceSafe).toBe(false);
		simulator.outage('error');
		expect((await adapter.readRefund?.(readingOf(owed(randomUUID(), null), null)))?.kind).toBe('unavailable');
	});

	it('is not sent for a payment that Airtel does not call paid', async () => {
		const failed = await settled({ outcome: 'DP00800001007' });
		expect(await adapter.refund?.(owed(failed.reference, null))).toMatchObject({
			kind: 'refused',
			retryable: false
		});
		const pending = await settled({ outcome: 'pending' });
		expect(await adapter.refund?.(owed(pending.reference, null))).toMatchObject({
			kind: 'refused',
			retryable: true
		});
		expect(await adapter.refund?.(owed(randomUUID(), null))).toMatchObject({ retryable: false });
		const paid = await settled();
		const wrong = owed(paid.reference, {
			...paid.status,
			providerReference: 'MP1'
		} as StatusOutcome);
		expect(await adapter.refund?.(wrong)).toMatchObject({ kind: 'refused', retryable: false });
		expect(requestsTo(REFUND)).toEqual([]);
	});

	it('is not sent while Airtel is unavailable, and is made only once', async () => {
		const { reference, status } = await settled();
		const refund = owed(reference, status);
		simulator.outage('error');
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: true });
		simulator.outage(null);
		expect((await adapter.refund?.(refund))?.kind).toBe('accepted');
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: false });
		expect(simulator.ledger().refunds).toBe(1);
	});
});
