/** Refusals of MTN MoMo, and answers that its pages do not show. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
	adapter,
	callbackOf,
	configure,
	pay,
	read,
	request,
	requestsTo,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MTN, MTN_PATH } from '../../../support/billing/tested-operators.ts';

useOperator(MTN);

describe('the answer to a request to pay', () => {
	it.each(['NOT_ALLOWED', 'NOT_ALLOWED_TARGET_ENVIRONMENT', 'INVALID_CALLBACK_URL_HOST', 'INVALID_CURRENCY'])(
		'%s is a refusal: nothing was queued',
		async (submitCode) => {
			const { outcome } = await pay({ submit: 'refuse', submitCode });
			expect(outcome).toMatchObject({
				kind: 'refused',
				reason: 'merchant_error',
				retryable: false,
				message: expect.stringContaining(submitCode),
				raw: expect.stringContaining(submitCode)
			});
			expect(requestsTo(MTN_PATH)).toHaveLength(1);
		}
	);
});

describe('answers that no operator’s page shows', () => {
	const answering = (status: number, text: string, headers: Record<string, string> = {}) => {
		configure(
			{},
			{},
			{
				send: async ({ url }) =>
					url.endsWith('/token/')
						? { kind: 'response', status: 200, headers: {}, text: '{"access_token":"t","expires_in":"3600"}' }
						: { kind: 'response', status, headers, text },
				stop: async () => {}
			}
		);
	};

	it.each([
		[200, '{"code":"NOT_ENOUGH_FUNDS"}', 'insufficient_funds'],
		[200, '{"status":"FAILED","reason":"PAYER_NOT_FOUND"}', 'payer_not_found'],
		[201, '{"status":" failed ","reason":{"code":" APPROVAL_REJECTED "}}', 'payer_rejected'],
		[200, '\ufeff{"code":"INVALID_CURRENCY","message":"Currency not supported."}', 'merchant_error']
	])('HTTP %i %s refuses a payment', async (status, text, reason) => {
		answering(status, text);
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', reason, retryable: false });
	});

	it.each([
		'{"code":"INTERNAL_PROCESSING_ERROR"}',
		'{"code":"SERVICE_UNAVAILABLE"}',
		'{"status":"PENDING","reason":"ONGOING"}',
		'{"status":"SUCCESSFUL","reason":"EXPIRED"}',
		'{"code":"A_NEW_ONE"}',
		''
	])('HTTP 200 %s to a payment decides nothing', async (text) => {
		answering(200, text);
		expect((await adapter.submit(request())).kind).toBe('uncertain');
	});

	it.each([
		['" SUCCESSFUL "', '23503452', '23503452'],
		['"Successful\\n"', '9223372036854775807', '9223372036854775807'],
		['"SUCCESSFUL"', '" 23503452 "', '23503452'],
		['"SUCCESSFUL"', '""', null]
	])('the status %s with the id %s is read exactly', async (status, id, providerReference) => {
		const text = `{"status":${status},"amount":"500","currency":"EUR","financialTransactionId":${id}}`;
		answering(200, text);
		expect(await read('some-reference')).toMatchObject({ kind: 'succeeded', providerReference });
		expect(await adapter.parseCallback(callbackOf('http://a.example/', text))).toMatchObject({
			...{ claimed: 'succeeded', providerReference }
		});
	});

	it.each([
		'{"code":"RESOURCE NOT FOUND"}',
		'{"code":"404","message":"Requested resource was not found."}',
		'{"message":"Resource not found"}'
	])('a read with 404 %j does not find it', async (text) => {
		answering(404, text);
		expect((await read(randomUUID())).kind).toBe('not_found');
	});

	it.each([
		[200, '{"status":"REVERSED"}'],
		[200, '{"status":null,"reason":"EXPIRED"}'],
		[200, '[]'],
		[200, '<html>'],
		[200, ''],
		[204, ''],
		[302, ''],
		[400, '{"code":"RESOURCE_NOT_FOUND"}'],
		[404, ''],
		[404, '{"statusCode":404,"message":"Resource not found"}'],
		[502, '{"status":"FAILED"}']
	])('a read with %i %j decides nothing', async (status, text) => {
		answering(status, text);
		expect((await read(randomUUID())).kind).toBe('unavailable');
	});

	it('a read and a request to pay wait as long as the operator requests', async () => {
		answering(429, '{"statusCode":429}', { 'retry-after': '7' });
		expect(await read(randomUUID())).toMatchObject({ kind: 'unavailable', retryAfterSeconds: 7 });
		expect(await adapter.submit(request())).toMatchObject({
			reason: 'provider_unavailable',
			retryAfterSeconds: 7
		});
	});

	it.each([
		['another currency', '{"status":"SUCCESSFUL","amount":"1500","currency":"KES"}', 150_000, 'KES'],
		['no amount', '{"status":"SUCCESSFUL"}', null, null],
		['decimals', '{"status":"SUCCESSFUL","amount":"1500.00","currency":"EUR"}', 1_500, 'UGX'],
		['groups of digits', '{"status":"SUCCESSFUL","amount":"1,500.00","currency":"EUR"}', 1_500, 'UGX']
	])('success with %s is returned unchanged', async (_what, text, amountMinor, currency) => {
		answering(200, text);
		expect(await read(randomUUID())).toMatchObject({ kind: 'succeeded', amountMinor, currency });
	});

	it.each(['"-5"', '"1e3"', '"abc"', '0', '"0.5"'])(
		'success with the amount %s is for a person',
		async (amount) => {
			answering(200, `{"status":"SUCCESSFUL","amount":${amount},"currency":"EUR"}`);
			expect((await read(randomUUID())).kind).toBe('contradiction');
		}
	);

	it.each([
		[200, ''],
		[301, ''],
		[500, '<html>'],
		[503, '{"code":"SERVICE_UNAVAILABLE"}']
	])('a request to pay with %i %j is uncertain', async (status, text) => {
		answering(status, text);
		expect(await adapter.submit(request())).toMatchObject({ kind: 'uncertain' });
	});

	it.each([
		[400, '', 'merchant_error'],
		[400, 'Bad Request', 'merchant_error'],
		[400, '{"code":"PAYER_NOT_FOUND"}', 'payer_not_found'],
		[401, '', 'merchant_error'],
		[403, '<html>', 'merchant_error'],
		[404, '{"statusCode":404}', 'merchant_error'],
		[405, '', 'merchant_error'],
		[415, '', 'merchant_error']
	])('a request to pay with %i %j is refused', async (status, text, reason) => {
		answering(status, text);
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', reason, retryable: false });
	});
});
