/** The simulated pawaPay as any client sees it: by plain HTTP. */
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startSimulator, type Simulator } from '../../simulators/frame.ts';
import { pawapay } from '../../simulators/pawapay/pawapay.ts';
import { startReceiver, type Receiver } from '../../support/api/receiver.ts';

type Json = Record<string, unknown>;

let simulator: Simulator;
let receiver: Receiver;
const CALLBACKS = '/from/pawapay';

beforeEach(async () => {
	simulator = await startSimulator(pawapay());
	receiver = await startReceiver();
	simulator.portal({ callback_url: receiver.url + CALLBACKS });
});
afterEach(async () => {
	await Promise.all([simulator.stop(), receiver.stop()]);
});

async function call(
	method: string,
	path: string,
	body?: unknown,
	headers: Record<string, string> = {}
): Promise<{ status: number; body: Json }> {
	const response = await fetch(simulator.url + path, {
		method,
		headers: {
			authorization: `Bearer ${simulator.credentials['api_token'] ?? ''}`,
			...(body === undefined ? {} : { 'content-type': 'application/json' }),
			...headers
		},
		...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) })
	});
	return { status: response.status, body: (await response.json()) as Json };
}

const deposit = (more: Json = {}, phoneNumber = '250783456789', provider = 'MTN_MOMO_RWA'): Json => ({
	depositId: randomUUID(),
	amount: '100',
	currency: 'RWF',
	payer: { type: 'MMO', accountDetails: { phoneNumber, provider } },
	...more
});
const post = (body: unknown) => call('POST', '/v2/deposits', body);
const read = async (body: Json) => (await call('GET', `/v2/deposits/${String(body['depositId'])}`)).body;
const failure = (answer: { body: Json }) =>
	(answer.body['failureReason'] as Json | undefined)?.['failureCode'];
const at = (path: string) => receiver.at(path).map(({ raw }) => JSON.parse(raw) as Json);

async function paid(more: Json = {}): Promise<Json> {
	const body = deposit(more);
	await post(body);
	simulator.advance(2_000);
	return body;
}

describe('a deposit', () => {
	it('is accepted, processed and completed', async () => {
		const body = deposit({
			clientReferenceId: 'INV-1',
			customerMessage: 'WiFi 1 hour',
			metadata: [{ orderId: 'ORD-1' }, { customerId: 'a@b.example', isPII: true }]
		});
		const accepted = await post(body);
		expect(accepted).toMatchObject({
			status: 200,
			body: { depositId: body['depositId'], status: 'ACCEPTED', created: expect.any(String) as unknown }
		});
		expect(await read(body)).toMatchObject({ status: 'FOUND', data: { status: 'ACCEPTED' } });
		expect(await read(body)).toMatchObject({ status: 'FOUND', data: { status: 'PROCESSING' } });
		simulator.advance(2_000);
		expect(await read(body)).toMatchObject({
			status: 'FOUND',
			data: {
				depositId: body['depositId'],
				status: 'COMPLETED',
				amount: '100',
				currency: 'RWF',
				country: 'RWA',
				payer: body['payer'],
				customerMessage: 'WiFi 1 hour',
				clientReferenceId: 'INV-1',
				providerTransactionId: '12000001',
				metadata: { orderId: 'ORD-1', customerId: 'a@b.example' }
			}
		});
		expect(simulator.ledger()).toEqual({ debited: 100, payments: 1, refunded: 0, refunds: 0 });
	});

	it('with an unknown id is not found, in both versions', async () => {
		expect(await read(deposit())).toEqual({ status: 'NOT_FOUND' });
		expect((await call('GET', `/deposits/${randomUUID()}`)).body).toEqual([]);
	});

	it('is read by the first version as a list of one', async () => {
		const body = await paid();
		expect((await call('GET', `/deposits/${String(body['depositId'])}`)).body).toMatchObject([
			{
				depositId: body['depositId'],
				status: 'COMPLETED',
				requestedAmount: '100',
				depositedAmount: '100',
				correspondent: 'MTN_MOMO_RWA'
			}
		]);
	});

	const bases: [string, string, string][] = [
		['250783456', 'MTN_MOMO_RWA', 'RWF'],
		['2250503456', 'MTN_MOMO_CIV', 'XOF'],
		['22951345', 'MTN_MOMO_BEN', 'XOF'],
		['265993456', 'AIRTEL_MWI', 'MWK']
	];
	const outcomes: [string, string][] = [
		['789', 'COMPLETED'],
		['019', 'PAYER_LIMIT_REACHED'],
		['029', 'PAYER_NOT_FOUND'],
		['039', 'PAYMENT_NOT_APPROVED'],
		['049', 'INSUFFICIENT_BALANCE'],
		['069', 'UNSPECIFIED_FAILURE'],
		['129', 'PROCESSING']
	];
	it.each(bases)(
		'of a test number %s… ends as its last digits define (%s)',
		async (base, provider, currency) => {
			for (const [digits, outcome] of outcomes) {
				const body = deposit({ currency }, base + digits, provider);
				expect((await post(body)).body).toMatchObject({ status: 'ACCEPTED' });
				simulator.advance(24 * 3_600_000);
				await read(body);
				const { data } = (await read(body)) as { data: Json };
				expect(failure({ body: data }) ?? data['status'], base + digits).toBe(outcome);
			}
		}
	);

	it.each([
		['22602345678', 'COMPLETED'],
		['22602345138', 'PROCESSING']
	])('of Moov in Burkina Faso (%s) ends as %s', async (phone, outcome) => {
		const body = deposit({ currency: 'XOF' }, phone, 'MOOV_BFA');
		await post(body);
		simulator.advance(60_000);
		await read(body);
		const { data } = (await read(body)) as { data: Json };
		expect(failure({ body: data }) ?? data['status']).toBe(outcome);
	});
});

describe('a wrong request', () => {
	const account = (more: Json) => ({
		type: 'MMO',
		accountDetails: { phoneNumber: '250783456789', provider: 'MTN_MOMO_RWA', ...more }
	});
	const without = (name: string) =>
		Object.fromEntries(Object.entries(deposit()).filter(([key]) => key !== name));

	it.each<[string, number, string, unknown]>([
		['no JSON', 400, 'INVALID_INPUT', '{'],
		['no amount', 400, 'MISSING_PARAMETER', without('amount')],
		['no provider', 400, 'MISSING_PARAMETER', deposit({ payer: account({ provider: undefined }) })],
		['an unknown field', 400, 'UNSUPPORTED_PARAMETER', deposit({ callbackUrl: 'https://x.example' })],
		['an id that is no UUID v4', 400, 'INVALID_PARAMETER', deposit({ depositId: 'order-1' })],
		['an amount that is a number', 400, 'INVALID_PARAMETER', deposit({ amount: 100 })],
		['a leading zero', 400, 'INVALID_PARAMETER', deposit({ amount: '0100' })],
		['three decimals', 400, 'INVALID_PARAMETER', deposit({ amount: '100.001' })],
		['another payer type', 400, 'INVALID_PARAMETER', deposit({ payer: { ...account({}), type: 'MSISDN' } })],
		['a short message', 400, 'INVALID_PARAMETER', deposit({ customerMessage: 'abc' })],
		['a dash in the message', 400, 'INVALID_PARAMETER', deposit({ customerMessage: 'Wi-Fi' })],
		['metadata twice', 400, 'DUPLICATE_METADATA_FIELD', deposit({ metadata: [{ a: '1' }, { a: '2' }] })],
		['metadata as pairs', 400, 'INVALID_PARAMETER', deposit({ metadata: [{ key: 'a', value: '2' }] })],
		['an unknown provider', 200, 'INVALID_PROVIDER', deposit({ payer: account({ provider: 'MTN_RWA' }) })],
		['a currency of elsewhere', 200, 'INVALID_CURRENCY', deposit({ currency: 'UGX' })],
		['decimals', 200, 'INVALID_AMOUNT', deposit({ amount: '100.50' })],
		['too little', 200, 'AMOUNT_OUT_OF_BOUNDS', deposit({ amount: '99' })],
		['too much', 200, 'AMOUNT_OUT_OF_BOUNDS', deposit({ amount: '2000001' })],
		['a plus', 200, 'INVALID_PHONE_NUMBER', deposit({ payer: account({ phoneNumber: '+250783456789' }) })],
		['a country of elsewhere', 200, 'INVALID_PHONE_NUMBER', deposit({}, '256783456789')]
	])('(%s) is refused: HTTP %i %s', async (_name, status, code, body) => {
		const answer = await post(body);
		expect(answer.status).toBe(status);
		expect(failure(answer)).toBe(code);
		expect(answer.body['status'] ?? 'REJECTED').toBe('REJECTED');
		expect(simulator.books.payments).toEqual([]);
	});

	it('that was rejected has no callback, and its id may be used again', async () => {
		const body = deposit({ amount: '1' });
		expect((await post(body)).body).toMatchObject({ status: 'REJECTED', depositId: body['depositId'] });
		expect(await read(body)).toEqual({ status: 'NOT_FOUND' });
		expect((await post({ ...body, amount: '100' })).body).toMatchObject({ status: 'ACCEPTED' });
		simulator.advance(2_000);
		await expect.poll(() => at(CALLBACKS)).toHaveLength(1);
		expect(at(CALLBACKS)).toMatchObject([{ status: 'COMPLETED' }]);
	});

	it('without a token or with a wrong one is refused', async () => {
		const bare = await fetch(`${simulator.url}/v2/active-conf`);
		expect(bare.status).toBe(401);
		expect(failure({ body: (await bare.json()) as Json })).toBe('NO_AUTHENTICATION');
		const wrong = await call('POST', '/v2/deposits', deposit(), { authorization: 'Bearer wrong' });
		expect(wrong.status).toBe(403);
		expect(failure(wrong)).toBe('AUTHENTICATION_ERROR');
	});

	it('of an account that may not take deposits, or signs requests, is refused with 403', async () => {
		simulator.portal({ signed_requests: 'on' });
		expect(await post(deposit())).toMatchObject({ status: 403 });
		expect(failure(await post(deposit()))).toBe('HTTP_SIGNATURE_ERROR');
		simulator.portal({ signed_requests: 'off', deposits: 'off' });
		expect(failure(await post(deposit()))).toBe('DEPOSITS_NOT_ALLOWED');
		simulator.portal({ deposits: 'on', closed: 'MTN_MOMO_RWA' });
		const closed = await post(deposit());
		expect(closed.status).toBe(200);
		expect(failure(closed)).toBe('PROVIDER_TEMPORARILY_UNAVAILABLE');
	});

	it('to an unknown address is a 404', async () => {
		expect((await call('GET', '/v2/nothing')).status).toBe(404);
		expect((await call('PUT', '/v2/deposits', {})).status).toBe(404);
	});
});

describe('a callback', () => {
	it('contains the final state, and is repeated until it is answered with 200', async () => {
		receiver.reply(CALLBACKS, (_received, index) => ({ status: index === 0 ? 503 : 200 }));
		const body = await paid({ clientReferenceId: 'INV-1' });
		await expect.poll(() => at(CALLBACKS)).toHaveLength(1);
		simulator.advance(11_000);
		await expect.poll(() => at(CALLBACKS)).toHaveLength(2);
		simulator.advance(15 * 60_000);
		const [first, second] = at(CALLBACKS);
		expect(second).toEqual(first);
		expect(first).toMatchObject({
			depositId: body['depositId'],
			status: 'COMPLETED',
			amount: '100',
			payer: body['payer'],
			providerTransactionId: '12000001'
		});
		expect(first).not.toHaveProperty('clientReferenceId');
		expect(receiver.at(CALLBACKS)[0]?.method).toBe('POST');
	});

	it('is not sent for a stuck payment, and can be requested when it is final', async () => {
		const stuck = deposit({}, '250783456129');
		await post(stuck);
		const resend = (body: Json) => call('POST', `/v2/deposits/resend-callback/${String(body['depositId'])}`);
		expect(failure(await resend(stuck))).toBe('INVALID_STATE');
		expect(failure(await resend(deposit()))).toBe('NOT_FOUND');
		const body = await paid();
		await expect.poll(() => at(CALLBACKS)).toHaveLength(1);
		expect((await resend(body)).body).toEqual({ depositId: body['depositId'], status: 'ACCEPTED' });
		await expect.poll(() => at(CALLBACKS)).toHaveLength(2);
	});
});

describe('a refund', () => {
	const refund = (body: Json, more: Json = {}) =>
		call('POST', '/v2/refunds', { refundId: randomUUID(), depositId: body['depositId'], ...more });

	it('of a part and of the rest ends in the books, with callbacks', async () => {
		const body = await paid();
		const refundId = randomUUID();
		const part = await refund(body, { refundId, amount: '40', currency: 'RWF' });
		expect(part.body).toMatchObject({ refundId, status: 'ACCEPTED' });
		expect((await refund(body, { refundId })).body).toMatchObject({ status: 'DUPLICATE_IGNORED' });
		expect((await call('GET', `/v2/refunds/${refundId}`)).body).toMatchObject({
			status: 'FOUND',
			data: { refundId, status: 'COMPLETED', amount: '40', currency: 'RWF', recipient: body['payer'] }
		});
		await refund(body);
		expect(simulator.ledger()).toMatchObject({ debited: 100, refunded: 100, refunds: 2 });
		await expect.poll(() => at(CALLBACKS).filter((one) => 'refundId' in one)).toHaveLength(2);
		expect(failure(await refund(body))).toBe('DEPOSIT_ALREADY_REFUNDED');
	});

	it('is refused as the operator does', async () => {
		const open = deposit({}, '250783456129');
		await post(open);
		const body = await paid();
		expect(failure(await refund(deposit()))).toBe('NOT_FOUND');
		expect(failure(await refund(open))).toBe('INVALID_STATE');
		expect(failure(await refund(body, { amount: '101' }))).toBe('AMOUNT_TOO_LARGE');
		expect(failure(await refund(body, { amount: '1.5' }))).toBe('INVALID_AMOUNT');
		expect(failure(await refund(body, { currency: 'UGX' }))).toBe('INVALID_CURRENCY');
		expect(failure(await refund(body, { refundId: 'x' }))).toBe('INVALID_PARAMETER');
		simulator.portal({ refunds: 'off' });
		expect(failure(await refund(body))).toBe('REFUNDS_NOT_ALLOWED');
		expect((await call('GET', `/v2/refunds/${randomUUID()}`)).body).toEqual({ status: 'NOT_FOUND' });
		expect(simulator.ledger()).toMatchObject({ refunds: 0 });
	});
});

it('responses to financial requests are signed: digest, status, and a published key', async () => {
	const response = await fetch(`${simulator.url}/v2/deposits`, {
		method: 'POST',
		headers: {
			authorization: `Bearer ${simulator.credentials['api_token'] ?? ''}`,
			'content-type': 'application/json'
		},
		body: JSON.stringify(deposit())
	});
	const body = await response.text();
	const header = (name: string) => response.headers.get(name) ?? '';
	expect(header('content-digest')).toBe(`sha-512=:${createHash('sha512').update(body).digest('base64')}:`);
	const keys = (await (await fetch(`${simulator.url}/v2/public-key/http`)).json()) as {
		id: string;
		key: string;
	}[];
	const parameters = header('signature-input').replace(/^sig-pp=/, '');
	const key = keys.find(({ id }) => parameters.includes(`keyid="${id}"`))?.key ?? '';
	const base = [
		'"@status": 200',
		...['signature-date', 'content-digest', 'content-type'].map((name) => `"${name}": ${header(name)}`),
		`"@signature-params": ${parameters}`
	].join('\n');
	const signature = Buffer.from(header('signature').slice('sig-pp=:'.length, -1), 'base64');
	expect(verify('sha256', Buffer.from(base), createPublicKey(key), signature)).toBe(true);
});

it('wallets hold what deposits left of refunds, by country', async () => {
	const body = await paid({ amount: '500' });
	await call('POST', '/v2/refunds', {
		...{ refundId: randomUUID(), depositId: body['depositId'] },
		...{ amount: '200', currency: 'RWF' }
	});
	expect((await call('GET', '/v2/wallet-balances?country=RWA')).body).toEqual({
		balances: [{ country: 'RWA', balance: '300.00', currency: 'RWF', provider: '' }]
	});
	const { balances } = (await call('GET', '/v2/wallet-balances')).body as { balances: Json[] };
	expect(balances).toContainEqual({ country: 'MWI', balance: '0.00', currency: 'MWK', provider: '' });
});

describe('the toolkit', () => {
	it.each([
		['+250 783-456789', 'RWA', 'MTN_MOMO_RWA', '250783456789'],
		['250733456789', 'RWA', 'AIRTEL_RWA', '250733456789'],
		['260973456789', 'ZMB', 'AIRTEL_OAPI_ZMB', '260973456789'],
		['22951345789', 'BEN', 'MTN_MOMO_BEN', '22951345789']
	])('predicts the provider of %s', async (phoneNumber, country, provider, clean) => {
		expect(await call('POST', '/v2/predict-provider', { phoneNumber })).toEqual({
			status: 200,
			body: { country, provider, phoneNumber: clean }
		});
	});

	it('predicts nothing for numbers without a country', async () => {
		expect(await call('POST', '/v2/predict-provider', { phoneNumber: '12025550123' })).toMatchObject({
			status: 400
		});
	});

	it('shows the configuration of the account', async () => {
		const { body } = await call('GET', '/v2/active-conf?country=RWA&operationType=DEPOSIT');
		expect(body).toMatchObject({
			signatureConfiguration: { signedRequestsOnly: false, signedCallbacks: false },
			countries: [
				{
					country: 'RWA',
					prefix: '250',
					providers: [
						{
							provider: 'MTN_MOMO_RWA',
							currencies: [
								{
									currency: 'RWF',
									operationTypes: {
										DEPOSIT: {
											authType: 'PROVIDER_AUTH',
											minAmount: '100',
											decimalsInAmount: 'NONE',
											status: 'OPERATIONAL',
											callbackUrl: receiver.url + CALLBACKS
										}
									}
								}
							]
						},
						{ provider: 'AIRTEL_RWA' }
					]
				}
			]
		});
	});
});
