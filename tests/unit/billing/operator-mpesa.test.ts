/** Pushes and tokens of M-Pesa Express, against the simulated Daraja. */
import { describe, expect, it } from 'vitest';
import { submitOutcome } from '../../../src/lib/server/billing/operators/mpesa/outcomes.ts';
import { mpesa } from '../../simulators/mpesa/mpesa.ts';
import type { Script } from '../../simulators/script.ts';
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
} from '../../support/billing/adapter.ts';
import { MPESA } from '../../support/billing/tested-operators.ts';

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

	it.each<[what: string, script: Partial<Script>, expected: object, queued: number]>([
		[
			'Spike Arrest',
			{ submit: 'rate_limited' },
			{ kind: 'refused', reason: 'provider_busy', retryable: true, retryAfterSeconds: 10 },
			0
		],
		[
			'Quota Violation',
			{ submit: 'refuse', submitCode: '500.003.03' },
			{ kind: 'refused', reason: 'provider_busy', retryable: true, retryAfterSeconds: 60 },
			0
		],
		[
			'a locked subscriber',
			{ submit: 'refuse', submitCode: '500.001.1001' },
			{ kind: 'refused', reason: 'provider_busy', retryable: true, retryAfterSeconds: 60 },
			0
		],
		[
			'an unknown merchant',
			{ submit: 'refuse', submitCode: '500.001.1001 Merchant does not exist' },
			{ kind: 'refused', reason: 'merchant_error', retryable: false },
			0
		],
		[
			'wrong credentials',
			{ submit: 'refuse', submitCode: '500.001.1001 Wrong credentials' },
			{ kind: 'refused', reason: 'merchant_error', retryable: false },
			0
		],
		[
			'500.001.1001 with another text',
			{ submit: 'refuse', submitCode: '500.001.1001 The transaction is being processed' },
			{ kind: 'uncertain', cause: '5xx' },
			0
		],
		[
			'an invalid number',
			{ submit: 'refuse', submitCode: '400.002.02 Bad Request - Invalid PhoneNumber' },
			{ kind: 'refused', reason: 'invalid_payer', retryable: false },
			0
		],
		[
			'an invalid address',
			{ submit: 'refuse', submitCode: '400.002.02 Bad Request - Invalid CallBackURL' },
			{ kind: 'refused', reason: 'merchant_error', retryable: false },
			0
		],
		[
			'a path that does not exist',
			{ submit: 'refuse', submitCode: '404.001.01' },
			{ kind: 'refused', reason: 'merchant_error', retryable: false },
			0
		],
		[
			'a method that is not allowed',
			{ submit: 'refuse', submitCode: '405.001' },
			{ kind: 'refused', reason: 'merchant_error', retryable: false },
			0
		],
		[
			'an unknown code',
			{ submit: 'refuse', submitCode: '500.009.99 What is this' },
			{ kind: 'uncertain', cause: '5xx' },
			0
		]
	])('that meets %s is %j', async (_what, script, expected, queued) => {
		simulator.script({}, script);
		expect(await adapter.submit(request())).toMatchObject(expected);
		expect(simulator.books.payments).toHaveLength(queued);
	});

	it('without a token is refused and may go again: nothing was sent', async () => {
		simulator.outage('refuse');
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', retryable: true });
		expect(simulator.requests.filter(({ path }) => path.includes('stkpush'))).toHaveLength(0);
	});

	it('with a token but a refused connection is refused, too', async () => {
		await adapter.health();
		await simulator.stop();
		// Finds the kept connection closed.
		await adapter.readStatus(attempt(request(), { operatorReference: 'ws_CO_1' }));
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'provider_busy',
			retryable: true
		});
		await start();
	});

	it('stores no credential', async () => {
		const outcomes = [await adapter.submit(request())];
		configure({ MPESA_CONSUMER_SECRET: 'wrong-secret' });
		outcomes.push(await adapter.submit(request()));
		configure({ MPESA_PASSKEY: 'wrong-passkey' });
		outcomes.push(await adapter.submit(request({ payerPhone: '+254711000000' })));
		const raw = outcomes.map((outcome) => outcome.raw).join();
		expect(raw).toContain('ws_CO_');
		expect(raw).not.toMatch(/secret|passkey|Bearer|Basic|Password/);
	});
});

describe('an answer to a push that no page shows', () => {
	it.each([
		[200, '{"ResponseCode":"1","ResponseDescription":"Rejected"}', 'refused', 'provider_error'],
		[200, '{"ResponseCode":1}', 'refused', 'provider_error'],
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
		expect(outcome).toMatchObject({ reason: 'provider_busy', retryable: true, retryAfterSeconds: 7 });
	});

	it('may go again when the gateway before Daraja limits the rate, in its own form', () => {
		const fault = { detail: { errorcode: 'policies.ratelimit.SpikeArrestViolation' } };
		const answer = { status: 500, headers: {}, text: JSON.stringify({ fault }) };
		expect(submitOutcome({ kind: 'response', ...answer }, 'CheckoutRequestID')).toMatchObject({
			kind: 'refused',
			reason: 'provider_busy',
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

	it('that ended early, or that another process replaced, is renewed in the middle of a flow', async () => {
		const { reference } = await pushed({ outcome: 'pending', guards: false });
		simulator.expireTokens();
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'pending' });
		simulator.expireTokens();
		expect(await adapter.submit(request())).toMatchObject({ kind: 'accepted' });
		// Another process takes a token: ours is dead.
		await adapterWith().health();
		expect(await adapter.submit(request())).toMatchObject({ kind: 'accepted' });
		expect(simulator.books.payments).toHaveLength(3);
		expect(made()).toBe(5);
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
				reason: 'provider_busy',
				retryable: true
			});
			// The second refusal drops the token as well, so that each round but the first takes two.
			expect([submitCode, made() - before]).toEqual([submitCode, before === 1 ? 1 : 2]);
		}
		configure({ MPESA_CONSUMER_KEY: 'wrong' });
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'unavailable' });
	});
});
