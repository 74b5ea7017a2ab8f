/** Payments and refunds by pawaPay, against the simulated operator. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { OperatorAdapter } from '../../../../src/lib/server/billing/operators/operator.ts';
import { customerMessage } from '#lib/server/billing/operators/pawapay.ts';
import type { Script } from '../../../simulators/script.ts';
import {
	attempt,
	callbackOf,
	readingOf,
	receiver,
	refundOf,
	request,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { adapterFor, sent, settled } from '../../../support/billing/pawapay.ts';
import { PAWAPAY } from '../../../support/billing/tested-operators.ts';

useOperator(PAWAPAY);

describe('a payment', () => {
	it('is requested as documented, and succeeds', async () => {
		const adapter = adapterFor();
		const payment = request();
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'accepted', operatorReference: null });
		expect(sent('/v2/deposits')).toEqual([
			{
				depositId: payment.reference,
				amount: '500',
				currency: 'RWF',
				payer: {
					type: 'MMO',
					accountDetails: { phoneNumber: '250783456789', provider: 'MTN_MOMO_RWA' }
				},
				customerMessage: 'WiFi 1 hour'
			}
		]);
		expect(await adapter.readStatus(attempt(payment))).toMatchObject({ kind: 'pending' });
		expect(await settled(adapter, payment)).toMatchObject({
			kind: 'succeeded',
			providerReference: '12000001',
			amountMinor: 500,
			currency: 'RWF'
		});
		expect(simulator.ledger()).toMatchObject({ debited: 500, payments: 1 });
	});

	it.each([
		['019', 'payer_limit_reached'],
		['029', 'payer_not_found'],
		['039', 'payer_rejected'],
		['049', 'insufficient_funds'],
		['069', 'provider_error']
	])('of the test number …%s fails with %s', async (digits, reason) => {
		const adapter = adapterFor();
		const payment = request({ payerPhone: `+250783456${digits}` });
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'accepted' });
		expect(await settled(adapter, payment)).toMatchObject({ kind: 'failed', reason });
	});

	it.each(['pending', 'IN_RECONCILIATION'])('that stays %s stays pending', async (outcome) => {
		const adapter = adapterFor();
		simulator.script({}, { outcome });
		const payment = request();
		await adapter.submit(payment);
		expect(await settled(adapter, payment)).toMatchObject({ kind: 'pending' });
	});

	it('with an unknown code has failed only if its state is FAILED', async () => {
		const adapter = adapterFor();
		simulator.script({}, { outcome: 'SOMETHING_NEW' });
		const payment = request();
		await adapter.submit(payment);
		expect(await settled(adapter, payment)).toMatchObject({ kind: 'failed', reason: 'provider_error' });
	});
});

describe('the outcome of a submit', () => {
	it('that pawaPay already has is "accepted"', async () => {
		const adapter = adapterFor();
		const payment = request();
		await adapter.submit(payment);
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'accepted' });
	});

	it.each([
		['INVALID_PHONE_NUMBER', 'payer_not_found'],
		['PROVIDER_TEMPORARILY_UNAVAILABLE', 'provider_unavailable'],
		['INVALID_AMOUNT', 'merchant_error'],
		['INVALID_INPUT', 'merchant_error'],
		['NO_AUTHENTICATION', 'merchant_error'],
		['HTTP_SIGNATURE_ERROR', 'merchant_error']
	] as const)('%s is a refusal: %s', async (submitCode, reason) => {
		const adapter = adapterFor();
		simulator.script({}, { submit: 'refuse', submitCode });
		const payment = request();
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'refused', reason, retryable: false });
		expect(sent('/v2/deposits')).toHaveLength(1);
		expect(await adapter.readStatus(attempt(payment))).toMatchObject({ kind: 'not_found' });
	});
});

describe('HTTP 200 to a request', () => {
	const answering = (body: object) => {
		receiver.reply('/v2/deposits', { status: 200, body: `\ufeff${JSON.stringify(body)}\0` });
		return adapterFor({ PAWAPAY_BASE_URL: receiver.url });
	};
	const failureReason = (failureCode: string) => ({
		failureReason: { failureCode, failureMessage: 'Words' }
	});

	it.each([
		[{ status: ' rejected ', ...failureReason('INVALID_PHONE_NUMBER') }, 'payer_not_found'],
		[{ status: 'FAILED', ...failureReason(' INSUFFICIENT_BALANCE ') }, 'insufficient_funds'],
		[failureReason('PAYER_LIMIT_REACHED'), 'payer_limit_reached'],
		[failureReason('DEPOSITS_NOT_ALLOWED'), 'merchant_error']
	] as const)('%j refuses a payment', async (body, reason) => {
		const outcome = await answering(body).submit(request());
		expect(outcome).toMatchObject({ kind: 'refused', reason, retryable: false });
	});

	it.each([
		failureReason('UNKNOWN_ERROR'),
		failureReason('A_NEW_ONE'),
		{ status: 'NEW' },
		{ errorId: 'x' },
		{}
	])('%j decides nothing', async (body) => {
		expect(await answering(body).submit(request())).toMatchObject({ kind: 'uncertain' });
	});

	it.each([
		['" COMPLETED "', '"x"', 'x'],
		['"completed"', '12345678901234567890', '12345678901234567890'],
		['"COMPLETED"', '" "', null]
	])('the state %s with the id %s is read exactly', async (state, id, providerReference) => {
		const data = `{"depositId":"x","status":${state},"amount":"5","currency":"UGX","providerTransactionId":${id}}`;
		receiver.reply('/v2/deposits/x', { status: 200, body: `{"status":"FOUND","data":${data}}` });
		const adapter = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		const read = await adapter.readStatus(attempt(request({ reference: 'x' })));
		expect(read).toMatchObject({ kind: 'succeeded', providerReference });
		const callback = callbackOf('http://a.example/', data);
		expect(await adapter.parseCallback(callback)).toMatchObject({ claimed: 'succeeded', providerReference });
	});
});

describe('a status read', () => {
	it.each([
		['about another payment', { status: 'FOUND', data: { depositId: randomUUID(), status: 'COMPLETED' } }],
		['without a state around it', { status: 'COMPLETED' }],
		['that is a list', []],
		['that is empty', '']
	])('with an answer %s decides nothing', async (_name, body) => {
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		receiver.reply(`/v2/deposits/${'x'}`, { status: 200, body: text });
		const adapter = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		expect(await adapter.readStatus(attempt(request({ reference: 'x' })))).toMatchObject({
			kind: 'unavailable'
		});
	});
});

describe('the message to the payer', () => {
	it.each([
		['Wi-Fi 1 hour', 'WiFi 1 hour'],
		['Café «Été» n° 5', 'Cafe Ete n 5'],
		['1h', 'WiFi 1h'],
		['', 'WiFi'],
		['—', 'WiFi'],
		['Wi-Fi 30 days, 23 hours and 59 minutes', 'WiFi 30 days 23 hours'],
		['Wi-Fi 1 hour\nat Mama’s', 'WiFi 1 hour at Mamas']
	])('%j becomes %j', (description, message) => {
		expect(customerMessage(description)).toBe(message);
		expect(message).toMatch(/^[A-Za-z0-9 ]{4,22}$/);
	});
});

describe('a refund', () => {
	const paid = async (adapter: OperatorAdapter, script: Partial<Script> = {}) => {
		simulator.script({}, script);
		const payment = request();
		await adapter.submit(payment);
		simulator.advance(60_000);
		return payment;
	};
	it('sends the money back', async () => {
		const adapter = adapterFor();
		const payment = await paid(adapter, { refund: { afterMs: 2_000 } });
		const refund = refundOf(payment);
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		expect(sent('/v2/refunds')).toEqual([
			{ refundId: refund.reference, depositId: payment.reference, amount: '500', currency: 'RWF' }
		]);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'pending' });
		simulator.advance(5_000);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ debited: 500, refunded: 500, refunds: 1 });
	});

	it('that was lost is found by its reference, and not paid twice', async () => {
		const adapter = adapterFor();
		const payment = await paid(adapter, { refund: { submit: 'drop_after' } });
		const refund = refundOf(payment);
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'uncertain' });
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ refunded: 500, refunds: 1 });
	});

	it('fails when the operator reports it, and is unknown when it never arrived', async () => {
		const adapter = adapterFor();
		const payment = await paid(adapter, { refund: { outcome: 'RECIPIENT_NOT_FOUND' } });
		const refund = refundOf(payment);
		await adapter.refund?.(refund);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({
			kind: 'failed',
			reason: 'payer_not_found'
		});
		expect(await adapter.readRefund?.(readingOf(refundOf(payment)))).toMatchObject({ kind: 'not_found' });
	});

	it('of more than was taken is refused for good', async () => {
		const adapter = adapterFor();
		const payment = await paid(adapter);
		expect(await adapter.refund?.({ ...refundOf(payment), amountMinor: 600 })).toMatchObject({
			kind: 'refused',
			retryable: false
		});
	});

	it.each(['PROVIDER_TEMPORARILY_UNAVAILABLE', 'REFUND_IN_PROGRESS', 'PAWAPAY_WALLET_OUT_OF_FUNDS'])(
		'may be sent again after %s',
		async (submitCode) => {
			const adapter = adapterFor();
			const payment = await paid(adapter, { refund: { submit: 'refuse', submitCode } });
			expect(await adapter.refund?.(refundOf(payment))).toMatchObject({ kind: 'refused', retryable: true });
		}
	);
});
