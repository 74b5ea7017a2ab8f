/** Payments by MTN MoMo: what is sent, what a status read says, and tokens; against the simulated operator. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mtn } from '../../../simulators/mtn.ts';
import {
	adapter,
	configure,
	pay,
	read,
	request,
	requestsTo,
	simulator,
	start,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MTN, MTN_PATH } from '../../../support/billing/tested-operators.ts';

useOperator(MTN);

describe('the request', () => {
	it('is the request to pay of the operator’s pages', async () => {
		const asked = request();
		expect(await adapter.submit(asked)).toEqual({
			kind: 'accepted',
			operatorReference: null,
			raw: 'HTTP 202'
		});
		const [post, ...more] = requestsTo(MTN_PATH);
		expect(more).toEqual([]);
		expect(post?.headers).toMatchObject({
			authorization: expect.stringMatching(/^Bearer \S+$/),
			'content-type': 'application/json',
			'ocp-apim-subscription-key': 'fake-collection-key',
			'x-reference-id': asked.reference,
			'x-target-environment': 'sandbox',
			'x-callback-url': asked.callbackUrl
		});
		expect(JSON.parse(post?.body ?? '')).toEqual({
			amount: '1500',
			currency: 'EUR',
			externalId: asked.reference,
			payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
			payerMessage: 'Wi-Fi 1 hour',
			payeeNote: asked.reference
		});
		const [token] = requestsTo('/collection/token/');
		expect([token?.method, token?.body]).toEqual(['POST', '']);
	});

	it.each([
		[1, 'UGX', '1'],
		[1_000_000, 'UGX', '1000000'],
		[1_050, 'KES', '10.5'],
		[1_234, 'KES', '12.34'],
		[100, 'KES', '1'],
		[7, 'ZMW', '0.07']
	])('%i minor units of %s are "%s"', async (amountMinor, currency, amount) => {
		configure({}, { currency });
		expect((await adapter.submit(request({ amountMinor, currency }))).kind).toBe('accepted');
		expect(JSON.parse(requestsTo(MTN_PATH)[0]?.body ?? '').amount).toBe(amount);
	});

	it.each([
		["Owner's Café: 2 hours & more", 'Owner s Cafe 2 hours more'],
		['x'.repeat(200), 'x'.repeat(160)],
		['مرحبا', 'Payment'],
		['', 'Payment']
	])('a description %j is written as %j', async (description, written) => {
		expect((await adapter.submit(request({ description }))).kind).toBe('accepted');
		expect(JSON.parse(requestsTo(MTN_PATH)[0]?.body ?? '').payerMessage).toBe(written);
	});

	it('has no callback address where MTN would not call it', async () => {
		configure({ MTN_CALLBACKS: 'off' });
		await adapter.submit(request());
		configure();
		await adapter.submit(request({ callbackUrl: 'https://till.example/callbacks/mtn/a/b' }));
		expect(requestsTo(MTN_PATH).map(({ headers }) => headers['x-callback-url'])).toEqual([
			undefined,
			undefined
		]);
	});
});

describe('a status read', () => {
	it('is pending, and then returns the charged amount in our currency', async () => {
		const { reference } = await pay();
		expect((await read(reference)).kind).toBe('pending');
		simulator.advance(1_000);
		expect(await read(reference)).toEqual({
			kind: 'succeeded',
			providerReference: '1700000001',
			amountMinor: 1_500,
			currency: 'UGX',
			raw: expect.stringContaining('"SUCCESSFUL"')
		});
	});

	it('reads numbers as texts and reasons as objects just as well', async () => {
		const good = await pay({ otherForm: true });
		const bad = await pay({ otherForm: true, outcome: 'NOT_ENOUGH_FUNDS' });
		simulator.advance(1_000);
		expect(await read(good.reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: '1700000001',
			amountMinor: 1_500
		});
		expect(await read(bad.reference)).toMatchObject({ kind: 'failed', reason: 'insufficient_funds' });
	});

	it.each([
		['payer_rejected', 'APPROVAL_REJECTED REJECTED PAYMENT_NOT_APPROVED TRANSACTION_CANCELED'],
		['payer_timeout', 'EXPIRED COULD_NOT_PERFORM_TRANSACTION'],
		['insufficient_funds', 'NOT_ENOUGH_FUNDS'],
		['payer_limit_reached', 'PAYER_LIMIT_REACHED'],
		['payer_not_found', 'PAYER_NOT_FOUND'],
		['provider_error', 'SENDER_ACCOUNT_NOT_ACTIVE'],
		['merchant_error', 'PAYEE_NOT_ALLOWED_TO_RECEIVE PAYEE_NOT_FOUND NOT_ALLOWED INVALID_CURRENCY'],
		['merchant_error', 'NOT_ALLOWED_TARGET_ENVIRONMENT INVALID_CALLBACK_URL_HOST TRANSFER_TYPE_UNKNOWN'],
		['provider_error', 'INTERNAL_PROCESSING_ERROR'],
		['provider_unavailable', 'SERVICE_UNAVAILABLE'],
		['provider_error', 'toString A_NEW_ONE']
	])('FAILED is %s with %s', async (reason, codes) => {
		for (const outcome of codes.split(' ')) {
			const { reference } = await pay({ outcome, afterMs: 0 });
			const message: unknown = expect.stringContaining(outcome);
			expect(await read(reference)).toMatchObject({ kind: 'failed', reason, message });
		}
	});

	it.each(['ONGOING', 'PENDING', 'DELAYED', 'PAYER_DELAYED'])('%s is not final', async (outcome) => {
		const { reference } = await pay({ outcome, afterMs: 0 });
		expect((await read(reference)).kind).toBe('pending');
	});

	it('of a reference that MTN does not have is not found', async () => {
		expect((await read(randomUUID())).kind).toBe('not_found');
		const { reference } = await pay({ notFoundReads: 2 });
		expect([
			(await read(reference)).kind,
			(await read(reference)).kind,
			(await read(reference)).kind
		]).toEqual(['not_found', 'not_found', 'pending']);
	});

	it('that meets the 404 of a gateway decides nothing about the payment', async () => {
		const { reference } = await pay();
		configure({ MTN_BASE_URL: `${simulator.url}/api` });
		expect((await read(reference)).kind).toBe('unavailable');
	});
});

describe('tokens', () => {
	const tokens = () => requestsTo('/collection/token/').length;

	it('are renewed a minute before they end', async () => {
		const { reference } = await pay();
		simulator.advance(3_530_000);
		await read(reference);
		expect(tokens()).toBe(1);
		simulator.advance(15_000);
		await read(reference);
		expect(tokens()).toBe(2);
	});
});

it('speaks with a market in its currency', async () => {
	await simulator.stop();
	await start(mtn({ market: 'mtnuganda' }));
	configure();
	const { reference } = await pay();
	simulator.advance(1_000);
	expect(await read(reference)).toMatchObject({ kind: 'succeeded', amountMinor: 1_500, currency: 'UGX' });
	expect(JSON.parse(requestsTo(MTN_PATH)[0]?.body ?? '')).toMatchObject({ amount: '1500', currency: 'UGX' });
});
