/** The simulated pawaPay as any client sees it: deposits, by plain HTTP. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CALLBACKS, usePawapay } from './use-pawapay.ts';
import type { Json } from './use-simulator.ts';

const { simulator, call, deposit, post, read, failure, at, paid, outcome } = usePawapay();

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
		simulator().advance(2_000);
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
		expect(simulator().ledger()).toEqual({ debited: 100, payments: 1, refunded: 0, refunds: 0 });
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
			for (const [digits, expected] of outcomes) {
				const body = deposit({ currency }, base + digits, provider);
				expect((await post(body)).body).toMatchObject({ status: 'ACCEPTED' });
				simulator().advance(24 * 3_600_000);
				expect(await outcome(body), base + digits).toBe(expected);
			}
		}
	);

	it.each([
		['22602345678', 'COMPLETED'],
		['22602345138', 'PROCESSING']
	])('of Moov in Burkina Faso (%s) ends as %s', async (phone, expected) => {
		const body = deposit({ currency: 'XOF' }, phone, 'MOOV_BFA');
		await post(body);
		simulator().advance(60_000);
		expect(await outcome(body)).toBe(expected);
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
		expect(simulator().books.payments).toEqual([]);
	});

	it('that was rejected has no callback, and its id may be used again', async () => {
		const body = deposit({ amount: '1' });
		expect((await post(body)).body).toMatchObject({ status: 'REJECTED', depositId: body['depositId'] });
		expect(await read(body)).toEqual({ status: 'NOT_FOUND' });
		expect((await post({ ...body, amount: '100' })).body).toMatchObject({ status: 'ACCEPTED' });
		simulator().advance(2_000);
		await expect.poll(() => at(CALLBACKS)).toHaveLength(1);
		expect(at(CALLBACKS)).toMatchObject([{ status: 'COMPLETED' }]);
	});

	it('without a token or with a wrong one is refused', async () => {
		const bare = await fetch(`${simulator().url}/v2/active-conf`);
		expect(bare.status).toBe(401);
		expect(failure({ body: (await bare.json()) as Json })).toBe('NO_AUTHENTICATION');
		const wrong = await call('POST', '/v2/deposits', deposit(), { authorization: 'Bearer wrong' });
		expect(wrong.status).toBe(403);
		expect(failure(wrong)).toBe('AUTHENTICATION_ERROR');
	});

	it('of an account that may not take deposits, or signs requests, is refused with 403', async () => {
		simulator().portal({ signed_requests: 'on' });
		expect(await post(deposit())).toMatchObject({ status: 403 });
		expect(failure(await post(deposit()))).toBe('HTTP_SIGNATURE_ERROR');
		simulator().portal({ signed_requests: 'off', deposits: 'off' });
		expect(failure(await post(deposit()))).toBe('DEPOSITS_NOT_ALLOWED');
		simulator().portal({ deposits: 'on', closed: 'MTN_MOMO_RWA' });
		const closed = await post(deposit());
		expect(closed.status).toBe(200);
		expect(failure(closed)).toBe('PROVIDER_TEMPORARILY_UNAVAILABLE');
	});

	it('to an unknown address is a 404', async () => {
		expect((await call('GET', '/v2/nothing')).status).toBe(404);
		expect((await call('PUT', '/v2/deposits', {})).status).toBe(404);
	});
});
