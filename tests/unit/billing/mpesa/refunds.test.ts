/** Reversals, against the simulated Daraja. */
import { describe, expect, it } from 'vitest';
import type { RefundRequest } from '../../../../src/lib/server/billing/operators/operator.ts';
import type { Script } from '../../../simulators/script.ts';
import {
	adapter,
	adapterWith,
	callbackOf,
	claimAt,
	configure,
	lastSent,
	pushed,
	readingOf,
	receiver,
	refundOf,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MPESA } from '../../../support/billing/tested-operators.ts';

useOperator(MPESA);

describe('a refund', () => {
	/** A payment with its receipt, and a refund of it. */
	async function owed(script: Partial<Script> = {}) {
		const { asked, reference } = await pushed(script);
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		const { operatorReference } = reference;
		const { providerReference } = claim;
		const refund = refundOf(asked, { operatorReference, providerReference });
		return { refund, reading: readingOf(refund) };
	}
	const send = async (refund: RefundRequest) => {
		const outcome = await adapter.refund?.(refund);
		if (!outcome) throw new Error('There are no refunds');
		return outcome;
	};

	it('reverses the receipt, waits, and ends with the result that is sent to its address', async () => {
		const { refund, reading } = await owed();
		const outcome = await send(refund);
		expect(outcome).toMatchObject({ kind: 'accepted', operatorReference: expect.any(String) });
		expect(lastSent()).toMatchObject({
			Initiator: 'simulatedapi',
			CommandID: 'TransactionReversal',
			TransactionID: 'SKA0000001',
			Amount: '25',
			ReceiverParty: '174379',
			RecieverIdentifierType: '11',
			ResultURL: refund.callbackUrl,
			QueueTimeOutURL: `${refund.callbackUrl}?notice=timeout`
		});
		const operatorReference = outcome.kind === 'accepted' ? outcome.operatorReference : null;
		const later = { ...reading, operatorReference };
		expect(await adapter.readRefund?.({ ...later, claim: null })).toMatchObject({ kind: 'pending' });
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(claim).toMatchObject({ claimed: 'succeeded', operatorReference, amountMinor: 2_500 });
		expect(await adapter.readRefund?.({ ...later, claim })).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKR0000001',
			amountMinor: 2_500
		});
		expect(simulator.ledger()).toMatchObject({ debited: 25, refunded: 25 });
	});

	it('with a lost result is queried; the answer comes to its address, too', async () => {
		const { refund, reading } = await owed({ refund: { callbacks: [], afterMs: 2_000 } });
		const outcome = await send(refund);
		const operatorReference = outcome.kind === 'accepted' ? outcome.operatorReference : null;
		const later = { ...reading, operatorReference, claim: null };
		const url = `${refund.callbackUrl}?notice=status`;
		const at = new URL(url).pathname + new URL(url).search;

		await adapter.readRefund?.(later);
		expect(lastSent()).toMatchObject({
			CommandID: 'TransactionStatusQuery',
			OriginalConversationID: operatorReference,
			IdentifierType: '4',
			ResultURL: url
		});
		simulator.advance(100);
		await expect.poll(() => receiver.at(at).length).toBe(1);
		const early = await adapter.parseCallback(callbackOf(url, receiver.at(at)[0]?.raw ?? ''));
		expect(early).toMatchObject({ claimed: 'pending', operatorReference });

		simulator.advance(2_000);
		await adapter.readRefund?.(later);
		simulator.advance(100);
		await expect.poll(() => receiver.at(at).length).toBe(2);
		expect(await claimAt(url)).toMatchObject({
			claimed: 'succeeded',
			operatorReference,
			providerReference: 'SKR0000001',
			amountMinor: 2_500
		});
	});

	it('with a failed query is neither failed nor done', async () => {
		const body = JSON.stringify({ Result: { ResultCode: 2001, OriginatorConversationID: 'x' } });
		const hint = await adapter.parseCallback(callbackOf('http://a.example/c?notice=status', body));
		expect(hint.claimed).toBe('pending');
	});

	it('that was refused in the end is failed', async () => {
		const { refund, reading } = await owed({ refund: { outcome: '2028' } });
		await send(refund);
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({
			kind: 'failed',
			reason: 'merchant_error'
		});
	});

	it('of a payment that was reversed before is done', async () => {
		const { refund, reading } = await owed();
		await send(refund);
		simulator.advance(1_000);
		const again = { ...refund, callbackUrl: `${refund.callbackUrl}-again` };
		await send(again);
		simulator.advance(1_000);
		const claim = await claimAt(again.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ refunded: 25, refunds: 1 });
	});

	it('with a lost answer is found by its result, and cannot be queried before', async () => {
		const { refund, reading } = await owed({ refund: { submit: 'drop_after' } });
		expect(await send(refund)).toMatchObject({ kind: 'uncertain' });
		expect(await adapter.readRefund?.({ ...reading, claim: null })).toMatchObject({ kind: 'unreadable' });
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({ kind: 'succeeded' });
	});

	it('without a receipt waits for it; without an initiator refunds are off', async () => {
		const { refund } = await owed();
		const before = simulator.requests.length;
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({
			kind: 'refused',
			reason: 'provider_unavailable',
			retryable: true
		});
		expect(simulator.requests).toHaveLength(before);
		const without = adapterWith({ MPESA_INITIATOR: '', MPESA_SECURITY_CREDENTIAL: '' });
		expect(without.refund).toBeUndefined();
		expect(without.readRefund).toBeUndefined();
	});

	it('without a receipt finds it in the list of settled payments, when allowed', async () => {
		configure({ MPESA_PULL: 'on' });
		const { refund } = await owed();
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({ kind: 'accepted' });
		expect(lastSent()).toMatchObject({ TransactionID: 'SKA0000001' });
	});
});
