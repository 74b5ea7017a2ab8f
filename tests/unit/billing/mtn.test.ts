/** MTN MoMo: payments, answers, callbacks, refunds and settings. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mtn } from '../../simulators/mtn.ts';
import {
	adapter,
	configure,
	pay,
	read,
	request,
	requestsTo,
	simulator,
	start,
	useOperator,
	callbackOf,
	adapterWith,
	readingOf,
	refundOf,
	problemsOf
} from '../../support/billing/adapter.ts';
import { MTN, MTN_PATH, NO_DISBURSEMENT } from '../../support/billing/tested-operators.ts';
import type { PaymentRequest } from '#lib/server/billing/operators/operator.ts';
import type { Script } from '../../simulators/script.ts';

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

/** Refusals of MTN MoMo, and answers that its pages do not show. */
describe('answers that no operator’s page shows', () => {
	const answering = (status: number, text: string, headers: Record<string, string> = {}) => {
		configure(
			{},
			{},
			{
				send: async ({ url }) =>
					url.endsWith('/token/')
						? {
								kind: 'response',
								status: 200,
								headers: {},
								text: '{"access_token":"t","expires_in":"3600"}'
							}
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
		...['{"code":"INTERNAL_PROCESSING_ERROR"}', '{"code":"SERVICE_UNAVAILABLE"}'],
		...['{"status":"PENDING","reason":"ONGOING"}', '{"status":"SUCCESSFUL","reason":"EXPIRED"}'],
		...['{"code":"A_NEW_ONE"}', '']
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
		[500, '{"code":"NOT_ALLOWED_TARGET_ENVIRONMENT"}', 'merchant_error'],
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

/** Callbacks of MTN MoMo. */
describe('callbacks', () => {
	const parse = (body: string) => adapter.parseCallback(callbackOf('http://a.example/', body));

	it('are read in their real shape', async () => {
		const { reference } = await pay();
		simulator.advance(1_000);
		const payment = simulator.books.byReference(reference);
		const how = { when: 'at_outcome', afterMs: 0, times: 1 } as const;
		const callback = payment && (await mtn().callback(payment, 'success', how, simulator.books));
		expect(await parse(callback?.body ?? '')).toEqual({
			claimed: 'succeeded',
			authentic: 'absent',
			reference,
			operatorReference: null,
			providerReference: '1700000001',
			amountMinor: 1_500,
			currency: 'UGX'
		});
	});

	it.each([
		['{"status":"FAILED","reason":"EXPIRED"}', 'failed'],
		['{"status":"FAILED","reason":{"code":"PAYER_DELAYED"}}', 'pending'],
		['{"status":"PENDING"}', 'pending'],
		['{"status":"CREATED"}', 'pending'],
		['{"status":"SUCCESSFUL","amount":"x","currency":7,"externalId":{}}', 'succeeded'],
		['{"status":7}', 'unknown'],
		['{}', 'unknown'],
		['null', 'unknown'],
		['[1]', 'unknown'],
		['<oops', 'unknown'],
		['', 'unknown']
	])('%s claims %s, and nothing throws', async (body, claimed) => {
		expect(await parse(body)).toMatchObject({ claimed, authentic: 'absent' });
	});
});

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
		expect(await readBack(refund)).toMatchObject({ kind: 'succeeded', amountMinor: 1_500, currency: 'UGX' });
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

describe('its health', () => {
	it('names the problem', async () => {
		const reasonWith = async (env: Record<string, string>) => adapterWith(env).health();
		expect(await reasonWith({ MTN_API_KEY: 'x' })).toMatch(
			/refuses MTN_API_USER, MTN_API_KEY and .*\(HTTP 401/
		);
		expect(await reasonWith({ MTN_DISBURSEMENT_SUBSCRIPTION_KEY: 'x' })).toMatch(/MTN_DISBURSEMENT_/);
		// The user of Collections gets a token for Disbursements, and each refund is refused.
		const { api_user = '', api_key = '' } = simulator.credentials;
		for (const user of [api_user, '']) {
			const key = user === '' ? '' : api_key;
			const env = { MTN_DISBURSEMENT_API_USER: user, MTN_DISBURSEMENT_API_KEY: key };
			expect(await reasonWith(env)).toMatch(/^MTN_DISBURSEMENT_API_USER: .*HTTP 500 NOT_ALLOWED/);
		}
		expect(await reasonWith({ MTN_BASE_URL: 'http://127.0.0.1:1' })).toMatch(/gives no token: network/);
		await simulator.stop();
		await start(mtn({ market: 'mtnuganda' }));
		const wrongMarket = { MTN_TARGET_ENVIRONMENT: 'mtnelsewhere' };
		expect(await reasonWith(wrongMarket)).toMatch(/^MTN_TARGET_ENVIRONMENT: .*mtnelsewhere/);
	});

	it('sees an account of another currency', async () => {
		await simulator.stop();
		await start(mtn({ market: 'mtnliberia' }));
		const other = adapterWith({ MTN_CURRENCY: 'USD' }, { currency: 'USD' });
		expect(await other.health()).toMatch(/^MTN_CURRENCY: .*LRD, not USD/);
	});
});

describe('its settings', () => {
	it('go together', () => {
		const uganda = { MTN_TARGET_ENVIRONMENT: 'mtnuganda' };
		expect(problemsOf({ MTN_CURRENCY: 'UGX' })).toEqual([expect.stringMatching(/^MTN_CURRENCY: .*EUR/)]);
		expect(problemsOf({ ...uganda, MTN_CURRENCY: 'EUR' })).toEqual([
			expect.stringMatching(/^MTN_CURRENCY: /)
		]);
		expect(problemsOf(uganda)).toEqual([]);
		expect(problemsOf(uganda, { currency: 'KES' })).toEqual([
			expect.stringMatching(/^MTN_TARGET_ENVIRONMENT: mtnuganda takes UGX/)
		]);
		expect(problemsOf({ MTN_TARGET_ENVIRONMENT: 'mtnnewland' }, { currency: 'KES' })).toEqual([]);
		expect(problemsOf({ ...NO_DISBURSEMENT, MTN_DISBURSEMENT_API_KEY: 'x' })).toEqual([
			expect.stringMatching(/^MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: /)
		]);
		expect(problemsOf({ MTN_DISBURSEMENT_API_USER: '' })).toEqual([
			expect.stringMatching(/^MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: /)
		]);
		expect(
			problemsOf({
				MTN_DISBURSEMENT_SUBSCRIPTION_KEY: '',
				MTN_DISBURSEMENT_API_USER: randomUUID(),
				MTN_DISBURSEMENT_API_KEY: 'x'
			})
		).toEqual([expect.stringMatching(/^MTN_DISBURSEMENT_SUBSCRIPTION_KEY: /)]);
	});

	it('keep real and test money apart', () => {
		const real = { MTN_TARGET_ENVIRONMENT: 'mtnuganda', MTN_BASE_URL: 'https://proxy.momoapi.mtn.com' };
		expect(problemsOf(real)).toEqual([expect.stringMatching(/^MTN_BASE_URL: .*real money/)]);
		const live = { mode: 'live', callbackUrl: 'https://till.example' } as const;
		expect(problemsOf(real, live)).toEqual([]);
		expect(problemsOf({ MTN_BASE_URL: 'https://sandbox.momodeveloper.mtn.com' }, live)).toEqual([
			expect.stringMatching(/^MTN_TARGET_ENVIRONMENT: /)
		]);
		expect(problemsOf({ ...real, MTN_BASE_URL: 'http://mtn.example' }, live)).toEqual([
			expect.stringMatching(/^MTN_BASE_URL: .*https/)
		]);
		for (const callbackUrl of ['http://till.example', 'https://192.0.2.1', 'https://[2001:db8::1]']) {
			expect(problemsOf(real, { ...live, callbackUrl }), callbackUrl).toEqual([
				expect.stringMatching(/^MTN_CALLBACKS: .*CALLBACK_URL/)
			]);
			expect(problemsOf({ ...real, MTN_CALLBACKS: 'off' }, { ...live, callbackUrl })).toEqual([]);
		}
	});

	it('define the supported numbers', () => {
		expect(adapter.takesNumber('+46733123451')).toBe(true);
		expect(adapter.takesNumber('+254712345678')).toBe(true);
		const uganda = adapterWith({ MTN_TARGET_ENVIRONMENT: 'mtnuganda' });
		expect(uganda.takesNumber('+256772123456')).toBe(true);
		expect(uganda.takesNumber('+254712345678')).toBe(false);
		expect(uganda.takesNumber('+46733123451')).toBe(false);
		const kenya = adapterWith({ MTN_COUNTRY: 'KE' });
		expect(kenya.takesNumber('+256772123456')).toBe(false);
		expect(kenya.takesNumber('+46733123451')).toBe(true);
	});
});
