/** The simulated MTN MoMo as any client sees it: by plain HTTP. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mtn } from '../../simulators/mtn/mtn.ts';
import { useMtn } from './use-mtn.ts';

const { simulator, call, restart, enter, order, pay, statusOf, keyOf } = useMtn();

describe('a request to pay', () => {
	it.each([
		['no reference', {}, { 'X-Reference-Id': '' }, 400, 'REQUEST_REJECTED'],
		['a reference that is no UUID v4', {}, { 'X-Reference-Id': '947354' }, 400, 'REQUEST_REJECTED'],
		['another content type', {}, { 'Content-Type': 'text/plain' }, 400, 'REQUEST_REJECTED'],
		['an empty callback address', {}, { 'X-Callback-Url': '' }, 400, 'REQUEST_REJECTED'],
		['an amount that is a number', { amount: 5 }, {}, 400, 'REQUEST_REJECTED'],
		['no amount', { amount: '0' }, {}, 400, 'REQUEST_REJECTED'],
		['a fraction of a cent', { amount: '0.001' }, {}, 400, 'REQUEST_REJECTED'],
		['a note of 161 characters', { payerMessage: 'x'.repeat(161) }, {}, 400, 'REQUEST_REJECTED'],
		['an apostrophe', { payeeNote: "Owner's" }, {}, 400, 'REQUEST_REJECTED'],
		['no payer', { payer: undefined }, {}, 400, 'REQUEST_REJECTED'],
		[
			'a number with a plus',
			{ payer: { partyIdType: 'MSISDN', partyId: '+256772123456' } },
			{},
			400,
			'REQUEST_REJECTED'
		],
		[
			'a strange kind of party',
			{ payer: { partyIdType: 'ALIAS', partyId: '1' } },
			{},
			400,
			'REQUEST_REJECTED'
		],
		['shillings in the sandbox', { currency: 'UGX' }, {}, 500, 'INVALID_CURRENCY'],
		['another market', {}, { 'X-Target-Environment': 'mtnuganda' }, 500, 'NOT_ALLOWED_TARGET_ENVIRONMENT'],
		[
			'a callback host that was not registered',
			{},
			{ 'X-Callback-Url': 'http://shop.example/cb' },
			500,
			'INVALID_CALLBACK_URL_HOST'
		]
	])('with %s is refused and not queued', async (_what, changes, headers, status, code) => {
		const answer = await pay(changes, headers);
		expect(answer).toMatchObject({ status, body: { code, message: expect.any(String) } });
		expect(simulator().books.payments).toHaveLength(0);
	});

	it('without a token, or with an invalid one, is refused', async () => {
		const headers = { ...keyOf('collection'), 'X-Reference-Id': randomUUID() };
		const path = '/collection/v1_0/requesttopay';
		expect((await call('POST', path, headers, order())).status).toBe(401);
		const invalid = { ...headers, Authorization: 'Bearer x' };
		expect((await call('POST', path, invalid, order())).status).toBe(401);
	});

	it('accepts 160 characters, and letters that are not English', async () => {
		expect((await pay({ payerMessage: 'x'.repeat(160), payeeNote: 'Café, 3. Straße' })).status).toBe(202);
	});

	it.each([
		['46733123450', 'FAILED', 'INTERNAL_PROCESSING_ERROR'],
		['46733123451', 'FAILED', 'APPROVAL_REJECTED'],
		['46733123452', 'FAILED', 'EXPIRED'],
		['46733123453', 'PENDING', undefined],
		['46733123454', 'SUCCESSFUL', undefined],
		['46733123455', 'FAILED', 'PAYER_NOT_FOUND'],
		['46733123456', 'FAILED', 'PAYEE_NOT_ALLOWED_TO_RECEIVE'],
		['46733123457', 'FAILED', 'NOT_ALLOWED'],
		['46733123458', 'FAILED', 'NOT_ALLOWED_TARGET_ENVIRONMENT'],
		['46733123459', 'FAILED', 'INVALID_CALLBACK_URL_HOST'],
		['46733123460', 'FAILED', 'INVALID_CURRENCY'],
		['46733123461', 'FAILED', 'INTERNAL_PROCESSING_ERROR'],
		['46733123462', 'FAILED', 'SERVICE_UNAVAILABLE'],
		['46733123463', 'FAILED', 'COULD_NOT_PERFORM_TRANSACTION'],
		['46733123464', 'FAILED', 'TRANSFER_TYPE_UNKNOWN'],
		['0772123456', 'FAILED', 'PAYER_NOT_FOUND'],
		['46733123499', 'SUCCESSFUL', undefined]
	])('from %s ends as %s %s', async (partyId, status, reason) => {
		const { reference } = await pay({ payer: { partyIdType: 'MSISDN', partyId } });
		simulator().advance(60_000);
		const answer = await statusOf(reference);
		expect(answer.status).toBe(200);
		expect(answer.body['status']).toBe(status);
		expect(answer.body['reason']).toBe(reason);
		expect(simulator().ledger().debited).toBe(status === 'SUCCESSFUL' ? 5 : 0);
	});

	it('is created before it is paid late by one number, and repeats amounts without zeros', async () => {
		const { reference } = await pay({
			amount: '12.50',
			payer: { partyIdType: 'MSISDN', partyId: '46733123454' }
		});
		simulator().advance(24_000);
		expect((await statusOf(reference)).body).toMatchObject({ status: 'CREATED', amount: '12.5' });
		simulator().advance(1_000);
		expect((await statusOf(reference)).body).toMatchObject({ status: 'SUCCESSFUL', amount: '12.5' });
	});
});

it('a callback goes to http addresses only in the sandbox', async () => {
	await pay({}, { 'X-Callback-Url': 'https://localhost/cb' });
	expect(simulator().books.payments[0]?.callbackUrl).toBeNull();
});

describe('other calls', () => {
	it('return whether an account holder is active', async () => {
		const headers = await enter();
		const ask = (type: string, id: string) =>
			call('GET', `/collection/v1_0/accountholder/${type}/${id}/active`, headers);
		expect((await ask('MSISDN', '256772123456')).body).toEqual({ result: true });
		expect((await ask('msisdn', '0772123456')).body).toEqual({ result: false });
		expect((await ask('MSISDN', '+256772123456')).status).toBe(400);
		const answers = await Promise.all(
			['50', '51', '52', '53', '54', '55'].map((end) => ask('MSISDN', `467331234${end}`))
		);
		expect(answers.map(({ status, body }) => [status, body['code'] ?? body['result']])).toEqual([
			[404, 'RESOURCE_NOT_FOUND'],
			[200, false],
			[500, 'NOT_ALLOWED'],
			[500, 'NOT_ALLOWED_TARGET_ENVIRONMENT'],
			[500, 'INTERNAL_PROCESSING_ERROR'],
			[503, 'SERVICE_UNAVAILABLE']
		]);
	});

	it('return the balance, and accept a delivery notification', async () => {
		const { reference } = await pay();
		simulator().advance(1_000);
		const headers = await enter();
		const balance = await call('GET', '/collection/v1_0/account/balance', headers);
		expect(balance.body).toEqual({ availableBalance: '5', currency: 'EUR' });
		const notify = (to: string, notificationMessage: string) =>
			call('POST', `/collection/v1_0/requesttopay/${to}/deliverynotification`, headers, {
				notificationMessage
			});
		expect((await notify(reference, 'x'.repeat(160))).status).toBe(200);
		expect((await notify(reference, 'x'.repeat(161))).status).toBe(400);
		expect((await notify(reference, '')).status).toBe(400);
		expect((await notify(randomUUID(), 'Thanks')).status).toBe(404);
	});

	it('that do not exist are 404 of the gateway', async () => {
		for (const path of ['/', '/collection', '/collection/v1_0//requesttopay', '/remittance/token/']) {
			expect(await call('GET', path), path).toMatchObject({ status: 404, body: { statusCode: 404 } });
		}
	});
});

describe('a refund', () => {
	const refund = async (referenceIdToRefund: string) => {
		const reference = randomUUID();
		const body = { ...order(), referenceIdToRefund };
		const headers = { ...(await enter('disbursement')), 'X-Reference-Id': reference };
		await call('POST', '/disbursement/v1_0/refund', headers, body);
		return { reference };
	};
	const refundStatus = async (reference: string) =>
		call('GET', `/disbursement/v1_0/refund/${reference}`, await enter('disbursement'));

	it('needs the key and the token of Disbursement', async () => {
		const headers = { ...(await enter('collection')), 'X-Reference-Id': randomUUID() };
		expect((await call('POST', '/disbursement/v1_0/refund', headers, {})).status).toBe(401);
	});

	it('of nothing fails, and the sandbox has scenarios', async () => {
		const unknown = await refund(randomUUID());
		const rejected = await refund('3');
		const last = await refund('13');
		const notAllowed = await refund('7');
		const ongoing = await refund('5');
		simulator().advance(1_000);
		expect((await refundStatus(unknown.reference)).body['reason']).toBe('RESOURCE_NOT_FOUND');
		expect((await refundStatus(rejected.reference)).body['reason']).toBe('APPROVAL_REJECTED');
		expect((await refundStatus(ongoing.reference)).body['status']).toBe('PENDING');
		expect((await refundStatus(notAllowed.reference)).body['reason']).toBe('NOT_ALLOWED');
		expect((await refundStatus(last.reference)).body['reason']).toBe('COULD_NOT_PERFORM_TRANSACTION');
		expect(simulator().ledger().refunded).toBe(0);
	});
});

describe('for a market', () => {
	it('accepts that market’s currency and numbers, creates no users, and has no test numbers', async () => {
		await restart(mtn({ market: 'mtnuganda', 'callback-host': 'shop.example' }));
		expect(simulator().environment).toMatchObject({ MTN_TARGET_ENVIRONMENT: 'mtnuganda', CURRENCY: 'UGX' });
		// Nothing is to leave this machine.
		simulator().script({}, { callbacks: [] });
		expect((await pay()).body['code']).toBe('INVALID_CURRENCY');
		expect((await pay({ amount: '500.50', currency: 'UGX' })).status).toBe(400);
		const good = await pay(
			{ amount: '500', currency: 'UGX' },
			{ 'X-Callback-Url': 'https://shop.example/cb' }
		);
		expect(good.status).toBe(202);
		const foreign = await pay({
			amount: '500',
			currency: 'UGX',
			payer: { partyIdType: 'MSISDN', partyId: '46733123453' }
		});
		simulator().advance(1_000);
		expect((await statusOf(good.reference)).body['status']).toBe('SUCCESSFUL');
		expect((await statusOf(foreign.reference)).body['reason']).toBe('PAYER_NOT_FOUND');
		const headers = { ...keyOf('collection'), 'X-Reference-Id': randomUUID() };
		expect((await call('POST', '/v1_0/apiuser', headers, {})).status).toBe(404);
	});

	it('must exist', () => {
		expect(() => mtn({ market: 'mtnmars' })).toThrow(/mtnuganda/);
		expect(() => mtn({ currency: 'UGX' })).toThrow(/--currency/);
	});
});
