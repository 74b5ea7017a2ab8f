/** Refunds by MTN MoMo, which are Disbursements. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PaymentRequest } from '../../../../src/lib/server/billing/operators/operator.ts';
import type { Script } from '../../../simulators/script.ts';
import {
	adapter,
	adapterWith,
	configure,
	pay,
	readingOf,
	refundOf,
	request,
	requestsTo,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MTN, NO_DISBURSEMENT } from '../../../support/billing/tested-operators.ts';

useOperator(MTN);

describe('refunds', () => {
	const owed = (reference: string, changes: Partial<PaymentRequest> = {}) =>
		refundOf(request({ reference, ...changes }));
	const readBack = (refund: ReturnType<typeof owed>) => adapter.readRefund?.(readingOf(refund));
	const paid = async (script: Partial<Script> = {}) => {
		const { reference } = await pay(script);
		simulator.advance(1_000);
		return reference;
	};

	it.each(['v1_0', 'v2_0'])('by %s have their own reference, and their status is read', async (version) => {
		configure({ MTN_REFUND_VERSION: version });
		const refund = owed(await paid());
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		const [post] = requestsTo(`/disbursement/${version}/refund`);
		expect(post?.headers).toMatchObject({
			'x-reference-id': refund.reference,
			'ocp-apim-subscription-key': 'fake-disbursement-key'
		});
		expect(JSON.parse(post?.body ?? '')).toMatchObject({
			amount: '1500',
			currency: 'EUR',
			externalId: refund.reference,
			referenceIdToRefund: refund.payment.reference
		});
		expect((await readBack(refund))?.kind).toBe('pending');
		simulator.advance(1_000);
		expect(await readBack(refund)).toMatchObject({
			kind: 'succeeded',
			amountMinor: 1_500,
			currency: 'UGX'
		});
		expect(simulator.ledger()).toMatchObject({ debited: 1_500, refunded: 1_500 });
	});

	it.each([
		['drop_after', 'uncertain', 'pending'],
		['error_before', 'uncertain', 'not_found'],
		['rate_limited', 'refused', 'not_found']
	] as const)('with %s are %s, and read as %s', async (submit, kind, state) => {
		const refund = owed(await paid({ refund: { submit } }));
		expect((await adapter.refund?.(refund))?.kind).toBe(kind);
		expect((await readBack(refund))?.kind).toBe(state);
	});

	it('sent twice with one reference go out once', async () => {
		const refund = owed(await paid());
		await adapter.refund?.(refund);
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		expect(simulator.books.refunds).toHaveLength(1);
	});

	it('that MTN does not make have failed', async () => {
		const refund = owed(await paid(), { amountMinor: 1_501 });
		await adapter.refund?.(refund);
		simulator.advance(1_000);
		expect(await readBack(refund)).toMatchObject({ kind: 'failed', reason: 'payer_timeout' });
	});

	it('are possible only with the key of Disbursements', async () => {
		expect(adapter.refund).toBeDefined();
		const without = adapterWith(NO_DISBURSEMENT);
		expect(without.refund).toBeUndefined();
		expect(without.readRefund).toBeUndefined();
	});

	it('may have an API user of their own', async () => {
		configure({ MTN_DISBURSEMENT_API_USER: randomUUID(), MTN_DISBURSEMENT_API_KEY: 'x' });
		const refund = owed(await paid());
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', reason: 'merchant_error' });
	});
});
