/** Callbacks, refunds, signatures and the toolkit of the simulated pawaPay. */
import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CALLBACKS, usePawapay } from './use-pawapay.ts';
import type { Json } from './use-simulator.ts';

const { simulator, send, receiver, call, deposit, post, failure, at, paid } = usePawapay();

describe('a callback', () => {
	it('contains the final state, and is repeated until it is answered with 200', async () => {
		receiver().reply(CALLBACKS, (_received, index) => ({ status: index === 0 ? 503 : 200 }));
		const body = await paid({ clientReferenceId: 'INV-1' });
		await expect.poll(() => at(CALLBACKS)).toHaveLength(1);
		simulator().advance(11_000);
		await expect.poll(() => at(CALLBACKS)).toHaveLength(2);
		simulator().advance(15 * 60_000);
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
		expect(receiver().at(CALLBACKS)[0]?.method).toBe('POST');
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
		expect(simulator().ledger()).toMatchObject({ debited: 100, refunded: 100, refunds: 2 });
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
		simulator().portal({ refunds: 'off' });
		expect(failure(await refund(body))).toBe('REFUNDS_NOT_ALLOWED');
		expect((await call('GET', `/v2/refunds/${randomUUID()}`)).body).toEqual({ status: 'NOT_FOUND' });
		expect(simulator().ledger()).toMatchObject({ refunds: 0 });
	});
});

it('responses to financial requests are signed: digest, status, and a published key', async () => {
	const { text, headers } = await send('POST', '/v2/deposits', deposit());
	const header = (name: string) => headers.get(name) ?? '';
	expect(header('content-digest')).toBe(`sha-512=:${createHash('sha512').update(text).digest('base64')}:`);
	const keys = (await (await fetch(`${simulator().url}/v2/public-key/http`)).json()) as {
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
											callbackUrl: receiver().url + CALLBACKS
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
