/** Codes of Airtel Money, and answers that it does not document. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import {
	adapter,
	configure,
	read,
	receiver,
	request,
	requestsTo,
	settled,
	useOperator
} from '../../../support/billing/adapter.ts';
import { AIRTEL } from '../../../support/billing/tested-operators.ts';

useOperator(AIRTEL);

const PUSH = '/merchant/v1/payments/';

describe('an answer to a payment', () => {
	it.each(['ROUTER117', 'ESB000001', 'ESB000004', '0000900', 'DP00800001000'])(
		'%s is uncertain: the payment may be queued',
		async (submitCode) => {
			const { submitted, status } = await settled({ submit: 'error_after', submitCode });
			expect([submitted.kind, status.kind]).toEqual(['uncertain', 'succeeded']);
			expect(requestsTo(PUSH)).toHaveLength(1);
		}
	);

	it.each([
		['ROUTER003', 'merchant_error'],
		['ESB000008', 'merchant_error'],
		['ESB000033', 'payer_not_found'],
		['ESB000036', 'payer_not_found'],
		['DP00800001026', 'merchant_error']
	] as const)('%s refuses it, in both forms: nothing was queued', async (submitCode, reason) => {
		for (const otherForm of [false, true]) {
			const { submitted } = await settled({ submit: 'refuse', submitCode, otherForm });
			expect(submitted).toMatchObject({ kind: 'refused', reason, retryable: false });
		}
	});
});

describe('answers that Airtel does not document', () => {
	beforeEach(() => {
		answers('/auth/oauth2/token', 200, { access_token: 'fake', expires_in: '180' });
		configure({ AIRTEL_BASE_URL: receiver.url });
	});

	const answers = (path: string, status: number, body: unknown) =>
		receiver.reply(path, {
			status,
			headers: { 'content-type': 'application/json' },
			body: typeof body === 'string' ? body : JSON.stringify(body)
		});

	it.each([
		[404, 'no Route matched', 'refused'],
		[403, '<html>', 'refused'],
		[400, { status: { response_code: 'DP00800001006' } }, 'uncertain'],
		[408, '', 'uncertain'],
		[502, '<html>', 'uncertain'],
		[301, '', 'uncertain'],
		[200, 'null', 'uncertain'],
		[200, { status: { success: true } }, 'uncertain'],
		[200, { data: { transaction: { status: 'FAILED' } }, status: { result_code: 'ESB000010' } }, 'uncertain'],
		[200, { status: { response_code: 'DP00800001006', success: 'true' } }, 'accepted']
	])('to a payment: %s %j is %s', async (status, body, kind) => {
		answers(PUSH, status, body);
		expect((await adapter.submit(request())).kind).toBe(kind);
	});

	it.each([
		['DP00800001002', 'Invalid PIN length', 'payer_rejected'],
		['DP00800001003', 'Exceeds withdrawal amount limit(s)', 'payer_limit_reached'],
		['DP00800001005', 'Msisdn Not Found', 'payer_not_found'],
		['DP00800001007', 'Not enough balance', 'insufficient_funds'],
		['DP00800001008', 'Transaction Refused', 'payer_rejected'],
		['DP00800001010', 'Transaction not permitted to Payee', 'merchant_error'],
		['DP00800001029', 'Transaction Expired', 'payer_timeout'],
		['ESB000008', 'Field validation', 'merchant_error'],
		['ESB000011', 'Failed', 'merchant_error'],
		['200', 'Insufficient funds', 'insufficient_funds']
	])('a refusal with HTTP 200 (%s, %s) is final, in each form', async (code, message, reason) => {
		for (const status of [
			{ response_code: code, result_code: 'ESB000010', code: '200', message, success: false },
			{ response_code: ` ${code.toLowerCase()} `, message, success: 'false' },
			{ result_code: code, message }
		]) {
			for (const transaction of [undefined, { id: false, status: 'FAILED', message }, { status: 'TF' }]) {
				answers(PUSH, 200, { data: { transaction }, status });
				expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', reason, retryable: false });
			}
		}
	});

	it.each([
		{ response_code: 'DP00800001000', message: 'Ambiguous', success: false },
		{ response_code: 'DP00800001001', message: 'Success', success: false },
		{ response_code: 'DP00800001006', message: 'In process', success: false },
		{ response_code: 'DP00800001024', message: 'Timed out', success: false },
		{ response_code: 'DP00800001025', message: 'Not found', success: false },
		{ response_code: 'DP00800001007', result_code: 'ESB000001', success: false },
		{ response_code: 'DP00800001007', success: true },
		{ result_code: 'ESB000041', message: 'Duplicate external id', success: false },
		{ result_code: 'ROUTER117', message: 'Timed out', success: false },
		{ code: '200', message: 'Transaction timed out', success: false },
		{ code: '200', message: 'Sent by KAMPALA WIFI LIMITED', success: false },
		{ code: '200', success: false }
	])('with HTTP 200, %j decides nothing', async (status) => {
		answers(PUSH, 200, { data: {}, status });
		expect((await adapter.submit(request())).kind).toBe('uncertain');
	});

	it.each([401, 403])('HTTP %s to a payment is about us, not about the payer', async (status) => {
		answers(PUSH, status, { status: { message: 'Token expired', code: String(status) } });
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'merchant_error',
			retryable: false
		});
		expect(receiver.at(PUSH)).toHaveLength(status === 401 ? 2 : 1);
	});

	it('distinguishes a number without a wallet from a PIN that was not entered', async () => {
		answers(PUSH, 400, { status: { response_code: 'DP00800001005', message: 'Msisdn Not Found' } });
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', reason: 'payer_not_found' });
	});

	it.each([
		[{ status: 'ts ', airtel_money_id: 'C1' }, 'succeeded'],
		[{ status: 'TS', id: false }, 'succeeded'],
		[{ status: 'TS', id: 'another' }, 'unavailable'],
		[{ status: 'TF', message: 'Insufficient funds' }, 'failed'],
		[{ status: 'TI' }, 'pending'],
		[{ status: 'SUCCESS' }, 'unavailable'],
		[{ status: 'TR' }, 'unavailable'],
		[{ status: 7 }, 'unavailable'],
		[{}, 'unavailable'],
		[null, 'unavailable']
	])('to a status read: %j is %s', async (transaction, kind) => {
		const reference = randomUUID();
		const codes = { code: '200', result_code: 'ESB000010', response_code: 'DP00800001001', success: true };
		answers(`/standard/v1/payments/${reference}`, 200, { data: { transaction }, status: codes });
		expect((await read(reference)).kind).toBe(kind);
	});

	it.each([401, 404, 500])('HTTP %s to a status read says nothing', async (status) => {
		const reference = randomUUID();
		answers(`/standard/v1/payments/${reference}`, status, {
			data: { transaction: { status: 'TF' } },
			status: { result_code: status === 500 ? 'ESB000045' : 'ESB000011' }
		});
		expect((await read(reference)).kind).toBe('unavailable');
	});

	it('messages of a market win over codes that it uses differently', async () => {
		const reference = randomUUID();
		answers(`/standard/v1/payments/${reference}`, 200, {
			data: { transaction: { status: 'TF', message: 'Not enough balance' } },
			status: { response_code: 'DP00800001005' }
		});
		expect(await read(reference)).toMatchObject({ reason: 'insufficient_funds' });
	});
});
