/** Pushes and tokens of M-Pesa Express, against the simulated Daraja. */
import { describe, expect, it } from 'vitest';
import { submitOutcome } from '#lib/server/billing/operators/mpesa.ts';
import { mpesa } from '../../../simulators/mpesa.ts';
import {
	adapter,
	adapterWith,
	attempt,
	configure,
	lastSent,
	pushed,
	receiver,
	request,
	simulator,
	start,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MPESA } from '../../../support/billing/tested-operators.ts';

useOperator(MPESA);

describe('a push', () => {
	it('contains shortcode, password for the time in Nairobi, whole shillings, number and callback address', async () => {
		simulator.books.advance(Date.UTC(2027, 0, 31, 22, 5, 6) - simulator.books.now());
		const asked = request({ reference: '0f8fad5b-d9cb-469f-a165-70867728950e', callbackUrl: receiver.url });
		const outcome = await adapter.submit(asked);
		expect(outcome).toMatchObject({
			kind: 'accepted',
			operatorReference: expect.stringMatching(/^ws_CO_\d{26}$/)
		});
		const sent = lastSent();
		const time = String(sent['Timestamp']);
		expect(time).toMatch(/^2027020101050\d$/);
		expect(sent).toEqual({
			BusinessShortCode: 174379,
			Password: Buffer.from(`174379simulated-passkey-of-174379${time}`).toString('base64'),
			Timestamp: time,
			TransactionType: 'CustomerPayBillOnline',
			Amount: '25',
			PartyA: '254708374149',
			PartyB: '174379',
			PhoneNumber: '254708374149',
			CallBackURL: receiver.url,
			AccountReference: '0F8FAD5BD9CB',
			TransactionDesc: 'Wi-Fi 1 hour'
		});
	});

	it('to a till buys goods there', async () => {
		configure({ MPESA_TILL: '5174379' });
		await adapter.submit(request());
		expect(lastSent()).toMatchObject({
			BusinessShortCode: 174379,
			TransactionType: 'CustomerBuyGoodsOnline',
			PartyB: '5174379'
		});
	});

	it.each([
		['Wi-Fi 30 minutes', 'Wi-Fi 30 minu'],
		['Café “Ünï” & Söhne', 'Cafe Uni Sohn'],
		['Wi-Fi        2 hours', 'Wi-Fi 2 hours'],
		['Wi-Fi 1 mois & demi', 'Wi-Fi 1 mois'],
		['   ', 'Payment'],
		['日本', 'Payment']
	])('describes %j as %j', async (description, shown) => {
		expect((await adapter.submit(request({ description }))).kind).toBe('accepted');
		expect(lastSent()['TransactionDesc']).toBe(shown);
	});

	const BUSY = { kind: 'refused', reason: 'provider_unavailable', retryable: true };
	const MERCHANT = { kind: 'refused', reason: 'merchant_error', retryable: false };
	const UNCERTAIN = { kind: 'uncertain' };

	it.each<[submitCode: string, expected: object]>([
		['500.003.03', { ...BUSY, retryAfterSeconds: 60 }],
		['500.001.1001', { ...BUSY, retryAfterSeconds: 60 }],
		['500.001.1001 Merchant does not exist', MERCHANT],
		['500.001.1001 Wrong credentials', MERCHANT],
		['500.001.1001 The transaction is being processed', UNCERTAIN],
		['500.009.99 What is this', UNCERTAIN],
		['400.002.02 Bad Request - Invalid PhoneNumber', { ...MERCHANT, reason: 'payer_not_found' }],
		['400.002.02 Bad Request - Invalid CallBackURL', MERCHANT],
		['404.001.01', MERCHANT],
		['405.001', MERCHANT]
	])('that is answered with %s is %j', async (submitCode, expected) => {
		simulator.script({}, { submit: 'refuse', submitCode });
		expect(await adapter.submit(request())).toMatchObject(expected);
		expect(simulator.books.payments).toEqual([]);
	});

	it('that meets Spike Arrest may go again in ten seconds', async () => {
		simulator.script({}, { submit: 'rate_limited' });
		expect(await adapter.submit(request())).toMatchObject({ ...BUSY, retryAfterSeconds: 10 });
	});

	it('with a token but a refused connection is refused, too', async () => {
		await adapter.health();
		await simulator.stop();
		// Finds the kept connection closed.
		await adapter.readStatus(attempt(request(), { operatorReference: 'ws_CO_1' }));
		expect(await adapter.submit(request())).toMatchObject(BUSY);
		await start();
	});
});

describe('an answer to a push that no page shows', () => {
	it.each([
		[200, '{"ResponseCode":"1","ResponseDescription":"Rejected"}', 'refused', 'provider_error'],
		[200, '{"ResponseCode":1}', 'refused', 'provider_error'],
		[200, '{"errorCode":"400.002.02","errorMessage":"Invalid PhoneNumber"}', 'refused', 'payer_not_found'],
		[200, '\ufeff{"errorCode":" 404.001.01 ","errorMessage":"Not found"}', 'refused', 'merchant_error'],
		[200, '{"ResponseCode":" 0 ","CheckoutRequestID":" ws_CO_1 "}', 'accepted', undefined],
		[200, '{"errorCode":"500.003.1001","errorMessage":"Internal Server Error"}', 'uncertain', undefined],
		[
			200,
			'{"errorCode":"500.001.1001","errorMessage":"The transaction is being processed"}',
			'uncertain',
			undefined
		],
		[401, '<html>', 'refused', 'merchant_error'],
		[403, '<html>', 'refused', 'merchant_error'],
		[200, '{}', 'uncertain', undefined],
		[404, '<html>', 'uncertain', undefined],
		[502, '<html>', 'uncertain', undefined]
	])('%i %s is %s', (status, text, kind, reason) => {
		const outcome = submitOutcome({ kind: 'response', status, headers: {}, text }, 'CheckoutRequestID');
		expect(outcome).toMatchObject({ kind, ...(reason && { reason, retryable: false }) });
	});

	it('says how long to wait', () => {
		const headers = { 'retry-after': '7' };
		const outcome = submitOutcome({ kind: 'response', status: 429, headers, text: '' }, 'CheckoutRequestID');
		expect(outcome).toMatchObject({ reason: 'provider_unavailable', retryable: true, retryAfterSeconds: 7 });
	});

	it('may go again when the gateway before Daraja limits the rate, in its own form', () => {
		const fault = { detail: { errorcode: 'policies.ratelimit.SpikeArrestViolation' } };
		const answer = { status: 500, headers: {}, text: JSON.stringify({ fault }) };
		expect(submitOutcome({ kind: 'response', ...answer }, 'CheckoutRequestID')).toMatchObject({
			kind: 'refused',
			reason: 'provider_unavailable',
			retryable: true
		});
	});
});

describe('the token', () => {
	const made = () => simulator.requests.filter(({ path }) => path.startsWith('/oauth')).length;

	it('is kept until shortly before its end, which is a text or a number', async () => {
		for (const written of ['text', 'number']) {
			await simulator.stop();
			await start(mpesa({ 'expires-in': written }));
			const { reference } = await pushed();
			simulator.advance(3_500_000);
			await adapter.readStatus(reference);
			expect(made()).toBe(1);
			simulator.advance(60_000);
			await adapter.readStatus(reference);
			expect(made()).toBe(2);
		}
	});

	it('that another process replaced is renewed', async () => {
		await pushed({ guards: false });
		await adapterWith().health();
		expect(await adapter.submit(request())).toMatchObject({ kind: 'accepted' });
		expect(simulator.books.payments).toHaveLength(2);
		expect(made()).toBe(3);
	});

	it('that is refused twice delays a push and a read: another process may have requested a newer one', async () => {
		const { reference } = await pushed();
		for (const submitCode of [
			'404.001.03',
			'400.003.01 Invalid Access Token',
			'401.002.01',
			'500.001.1001 Error Occurred - Invalid Access Token - x'
		]) {
			simulator.script({}, { submit: 'refuse', submitCode, guards: false });
			const before = made();
			expect(await adapter.submit(request())).toMatchObject({
				kind: 'refused',
				reason: 'provider_unavailable',
				retryable: true
			});
			// The second refusal drops the token as well, so that each round but the first takes two.
			expect([submitCode, made() - before]).toEqual([submitCode, before === 1 ? 1 : 2]);
		}
		configure({ MPESA_CONSUMER_KEY: 'wrong' });
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'unavailable' });
	});
});
