import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulators/frame.ts';
import { mtn } from '../../simulators/mtn/mtn.ts';

/** The simulated MTN MoMo as any client sees it: over HTTP, with nothing of ours in between. */
let simulator: Simulator;
beforeEach(async () => {
	simulator = await startSimulator(mtn());
});
afterEach(() => simulator.stop());

type Headers = Record<string, string>;
interface Answer {
	status: number;
	text: string;
	body: Record<string, unknown>;
}

async function call(method: string, path: string, headers: Headers = {}, body?: unknown): Promise<Answer> {
	const response = await fetch(simulator.url + path, {
		method,
		headers,
		...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
	});
	const text = await response.text();
	const isJson = text.startsWith('{');
	return { status: response.status, text, body: isJson ? JSON.parse(text) : {} };
}

const basic = (user: string, key: string) => `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`;

function keyOf(product: string): Headers {
	return { 'Ocp-Apim-Subscription-Key': simulator.credentials[`${product}_subscription_key`] ?? '' };
}

async function tokenFor(product = 'collection'): Promise<string> {
	const {
		api_user = '',
		api_key = '',
		disbursement_api_user = '',
		disbursement_api_key = ''
	} = simulator.credentials;
	const answer = await call('POST', `/${product}/token/`, {
		...keyOf(product),
		Authorization:
			product === 'collection' ? basic(api_user, api_key) : basic(disbursement_api_user, disbursement_api_key)
	});
	return String(answer.body['access_token']);
}

async function enter(product = 'collection'): Promise<Headers> {
	return {
		...keyOf(product),
		Authorization: `Bearer ${await tokenFor(product)}`,
		'X-Target-Environment': simulator.credentials['target_environment'] ?? '',
		'Content-Type': 'application/json'
	};
}

const order = (changes: Record<string, unknown> = {}) => ({
	amount: '5',
	currency: 'EUR',
	externalId: 'ORDER-1',
	payer: { partyIdType: 'MSISDN', partyId: '256772123456' },
	payerMessage: 'Wi-Fi 1h',
	payeeNote: 'site 12',
	...changes
});

async function pay(changes: Record<string, unknown> = {}, headers: Headers = {}, reference = randomUUID()) {
	const answer = await call(
		'POST',
		'/collection/v1_0/requesttopay',
		{ ...(await enter()), 'X-Reference-Id': reference, ...headers },
		order(changes)
	);
	return { ...answer, reference };
}

const statusOf = async (reference: string) =>
	call('GET', `/collection/v1_0/requesttopay/${reference}`, await enter());

describe('users and keys', () => {
	it('need a UUID v4, a host name that is no address, and a subscription key', async () => {
		const json = { ...keyOf('collection'), 'Content-Type': 'application/json' };
		const host = { providerCallbackHost: 'shop.example' };
		const make = (headers: Headers, body: unknown) => call('POST', '/v1_0/apiuser', headers, body);
		const id = randomUUID();
		expect((await make(json, host)).status).toBe(400);
		const v1 = 'c72025f5-5cd1-1630-99e4-8ba4722fad56';
		expect((await make({ ...json, 'X-Reference-Id': v1 }, host)).status).toBe(400);
		for (const wrong of [
			'192.0.2.1',
			'https://192.0.2.1',
			'https://shop.example/path',
			'shop.example:80',
			'',
			7
		]) {
			const refused = await make({ ...json, 'X-Reference-Id': id }, { providerCallbackHost: wrong });
			expect(refused.status, String(wrong)).toBe(400);
		}
		expect((await make({ 'X-Reference-Id': id }, host)).status).toBe(401);
		expect((await make({ ...json, 'X-Reference-Id': id }, host)).status).toBe(201);
		const scheme = { providerCallbackHost: 'https://shop.example' };
		expect((await make({ ...json, 'X-Reference-Id': randomUUID() }, scheme)).status).toBe(201);
		expect(await make({ ...json, 'X-Reference-Id': id }, host)).toMatchObject({
			status: 409,
			body: { code: 'RESOURCE_ALREADY_EXIST' }
		});
		expect((await call('GET', `/v1_0/apiuser/${randomUUID()}`, json)).status).toBe(404);
	});
});

describe('tokens', () => {
	it('need the slash, no JSON, the right key and the right user', async () => {
		const { api_user = '', api_key = '' } = simulator.credentials;
		const right = { ...keyOf('collection'), Authorization: basic(api_user, api_key) };
		expect((await call('POST', '/collection/token/', right)).status).toBe(200);
		expect((await call('POST', '/collection/token', right)).status).toBe(404);
		expect((await call('POST', '/collection/token/', right, '{}')).status).toBe(400);
		const form = { ...right, 'Content-Type': 'application/x-www-form-urlencoded' };
		const grant = 'grant_type=client_credentials';
		expect((await call('POST', '/collection/token/', form, grant)).status).toBe(200);
		const wrongUser = { ...right, Authorization: basic(api_user, 'x') };
		expect((await call('POST', '/collection/token/', wrongUser)).status).toBe(401);
		const { Authorization } = right;
		const noKey = await call('POST', '/collection/token/', { Authorization });
		expect(noKey).toMatchObject({ status: 401, body: { statusCode: 401 } });
		expect(noKey.text).toContain('missing subscription key');
		// Each product has keys of its own.
		const otherKey = await call('POST', '/collection/token/', { Authorization, ...keyOf('disbursement') });
		expect(otherKey.text).toContain('invalid subscription key');
		const secondary = {
			Authorization,
			'Ocp-Apim-Subscription-Key': simulator.credentials['collection_secondary_key'] ?? ''
		};
		expect((await call('POST', '/collection/token/', secondary)).status).toBe(200);
	});

	it('live an hour, for one product, and not longer than they are let', async () => {
		const headers = await enter();
		const read = () => call('GET', '/collection/v1_0/account/balance', headers);
		expect((await read()).status).toBe(200);
		simulator.advance(3_599_000);
		expect((await read()).status).toBe(200);
		simulator.advance(2_000);
		expect((await read()).status).toBe(401);
		const other = { ...(await enter('disbursement')), ...keyOf('collection') };
		expect((await call('GET', '/collection/v1_0/account/balance', other)).status).toBe(401);
		const fresh = await enter();
		simulator.expireTokens();
		expect((await call('GET', '/collection/v1_0/account/balance', fresh)).status).toBe(401);
	});
});

it('a user is of the product that made it: another one gives it a token, and refuses its calls', async () => {
	const { api_user = '', api_key = '' } = simulator.credentials;
	const { body } = await call('POST', '/disbursement/token/', {
		...keyOf('disbursement'),
		Authorization: basic(api_user, api_key)
	});
	const headers = {
		...(await enter('disbursement')),
		Authorization: `Bearer ${String(body['access_token'])}`
	};
	expect(await call('GET', '/disbursement/v1_0/account/balance', headers)).toMatchObject({
		status: 500,
		body: { code: 'NOT_ALLOWED' }
	});
});

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
		expect(simulator.books.payments).toHaveLength(0);
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
		simulator.advance(60_000);
		const answer = await statusOf(reference);
		expect(answer.status).toBe(200);
		expect(answer.body['status']).toBe(status);
		expect(answer.body['reason']).toBe(reason);
		expect(simulator.ledger().debited).toBe(status === 'SUCCESSFUL' ? 5 : 0);
	});

	it('is created before it is paid late by one number, and repeats amounts without zeros', async () => {
		const { reference } = await pay({
			amount: '12.50',
			payer: { partyIdType: 'MSISDN', partyId: '46733123454' }
		});
		simulator.advance(24_000);
		expect((await statusOf(reference)).body).toMatchObject({ status: 'CREATED', amount: '12.5' });
		simulator.advance(1_000);
		expect((await statusOf(reference)).body).toMatchObject({ status: 'SUCCESSFUL', amount: '12.5' });
	});
});

it('a callback goes to http addresses only in the sandbox', async () => {
	await pay({}, { 'X-Callback-Url': 'https://localhost/cb' });
	expect(simulator.books.payments[0]?.callbackUrl).toBeNull();
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
		simulator.advance(1_000);
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
		simulator.advance(1_000);
		expect((await refundStatus(unknown.reference)).body['reason']).toBe('RESOURCE_NOT_FOUND');
		expect((await refundStatus(rejected.reference)).body['reason']).toBe('APPROVAL_REJECTED');
		expect((await refundStatus(ongoing.reference)).body['status']).toBe('PENDING');
		expect((await refundStatus(notAllowed.reference)).body['reason']).toBe('NOT_ALLOWED');
		expect((await refundStatus(last.reference)).body['reason']).toBe('COULD_NOT_PERFORM_TRANSACTION');
		expect(simulator.ledger().refunded).toBe(0);
	});
});

describe('for a market', () => {
	it('accepts that market’s currency and numbers, creates no users, and has no test numbers', async () => {
		await simulator.stop();
		simulator = await startSimulator(mtn({ market: 'mtnuganda', 'callback-host': 'shop.example' }));
		expect(simulator.environment).toMatchObject({ MTN_TARGET_ENVIRONMENT: 'mtnuganda', CURRENCY: 'UGX' });
		// Nothing is to leave this machine.
		simulator.script({}, { callbacks: [] });
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
		simulator.advance(1_000);
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
