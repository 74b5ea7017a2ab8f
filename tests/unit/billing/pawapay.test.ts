/** pawaPay: payments, amounts, callbacks, refunds and settings. */
import { randomUUID, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, beforeEach } from 'vitest';
import type {
	Installation,
	OperatorAdapter,
	PaymentRequest,
	RawCallback
} from '#lib/server/billing/operators/operator.ts';
import { customerMessage } from '#lib/server/billing/operators/pawapay.ts';
import type { Script } from '../../simulators/script.ts';
import {
	adapter,
	adapterWith,
	attempt,
	callbackOf,
	configure,
	pay,
	problemsOf,
	read,
	readingOf,
	receiver,
	refundOf,
	request,
	sentTo,
	settled,
	simulator,
	useOperator
} from '../../support/billing/adapter.ts';
import { PAWAPAY } from '../../support/billing/tested-operators.ts';
import type { Received } from '../../support/api/receiver.ts';

const CALLBACKS = '/callbacks/pawapay/token';

useOperator(PAWAPAY);
beforeEach(() => configure({}, { callbackUrl: receiver.url }));

/** Another adapter. */
const adapterFor = (env: Record<string, string> = {}, more: Partial<Installation> = {}): OperatorAdapter =>
	adapterWith(env, { callbackUrl: receiver.url, ...more });

const sent = (path: string) => sentTo(path) as Record<string, unknown>[];

describe('a payment', () => {
	it('is requested as documented, and succeeds', async () => {
		const { reference, outcome } = await pay();
		expect(outcome).toMatchObject({ kind: 'accepted', operatorReference: null });
		expect(sent('/v2/deposits')).toEqual([
			{
				depositId: reference,
				amount: '500',
				currency: 'RWF',
				payer: { type: 'MMO', accountDetails: { phoneNumber: '250783456789', provider: 'MTN_MOMO_RWA' } },
				customerMessage: 'WiFi 1 hour'
			}
		]);
		expect(await read(reference)).toMatchObject({ kind: 'pending' });
		simulator.advance(60_000);
		expect(await read(reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: '12000001',
			amountMinor: 500,
			currency: 'RWF'
		});
		expect(simulator.ledger()).toMatchObject({ debited: 500, payments: 1 });
	});

	it.each([
		['019', 'payer_limit_reached'],
		['029', 'payer_not_found'],
		['039', 'payer_rejected'],
		['049', 'insufficient_funds'],
		['069', 'provider_error']
	])('of the test number …%s fails with %s', async (digits, reason) => {
		const payment = request({ payerPhone: `+250783456${digits}` });
		expect(await adapter.submit(payment)).toMatchObject({ kind: 'accepted' });
		simulator.advance(60_000);
		expect(await read(payment.reference)).toMatchObject({ kind: 'failed', reason });
	});

	it.each(['pending', 'IN_RECONCILIATION'])('that stays %s stays pending', async (outcome) => {
		expect((await settled({ outcome })).status).toMatchObject({ kind: 'pending' });
	});

	it('with an unknown code has failed only if its state is FAILED', async () => {
		const { status } = await settled({ outcome: 'SOMETHING_NEW' });
		expect(status).toMatchObject({ kind: 'failed', reason: 'provider_error' });
	});
});

describe('the outcome of a submit', () => {
	it.each([
		['INVALID_PHONE_NUMBER', 'payer_not_found'],
		['PROVIDER_TEMPORARILY_UNAVAILABLE', 'provider_unavailable'],
		['INVALID_AMOUNT', 'merchant_error'],
		['INVALID_INPUT', 'merchant_error'],
		['NO_AUTHENTICATION', 'merchant_error'],
		['HTTP_SIGNATURE_ERROR', 'merchant_error']
	] as const)('%s is a refusal: %s', async (submitCode, reason) => {
		const { submitted, status } = await settled({ submit: 'refuse', submitCode });
		expect(submitted).toMatchObject({ kind: 'refused', reason, retryable: false });
		expect(sent('/v2/deposits')).toHaveLength(1);
		expect(status).toMatchObject({ kind: 'not_found' });
	});
});

describe('HTTP 200 to a request', () => {
	const answering = (body: object) => {
		receiver.reply('/v2/deposits', { status: 200, body: `\ufeff${JSON.stringify(body)}\0` });
		return adapterFor({ PAWAPAY_BASE_URL: receiver.url });
	};
	const failureReason = (failureCode: string) => ({
		failureReason: { failureCode, failureMessage: 'Words' }
	});

	it.each([
		[{ status: ' rejected ', ...failureReason('INVALID_PHONE_NUMBER') }, 'payer_not_found'],
		[{ status: 'FAILED', ...failureReason(' INSUFFICIENT_BALANCE ') }, 'insufficient_funds'],
		[failureReason('PAYER_LIMIT_REACHED'), 'payer_limit_reached'],
		[failureReason('DEPOSITS_NOT_ALLOWED'), 'merchant_error']
	] as const)('%j refuses a payment', async (body, reason) => {
		const outcome = await answering(body).submit(request());
		expect(outcome).toMatchObject({ kind: 'refused', reason, retryable: false });
	});

	it.each([
		failureReason('UNKNOWN_ERROR'),
		failureReason('A_NEW_ONE'),
		{ status: 'NEW' },
		{ errorId: 'x' },
		{}
	])('%j decides nothing', async (body) => {
		expect(await answering(body).submit(request())).toMatchObject({ kind: 'uncertain' });
	});

	it.each([
		['" COMPLETED "', '"x"', 'x'],
		['"completed"', '12345678901234567890', '12345678901234567890'],
		['"COMPLETED"', '" "', null]
	])('the state %s with the id %s is read exactly', async (state, id, providerReference) => {
		const data = `{"depositId":"x","status":${state},"amount":"5","currency":"UGX","providerTransactionId":${id}}`;
		receiver.reply('/v2/deposits/x', { status: 200, body: `{"status":"FOUND","data":${data}}` });
		configure({ PAWAPAY_BASE_URL: receiver.url }, { callbackUrl: receiver.url });
		expect(await read('x')).toMatchObject({ kind: 'succeeded', providerReference });
		const callback = callbackOf('http://a.example/', data);
		expect(await adapter.parseCallback(callback)).toMatchObject({ claimed: 'succeeded', providerReference });
	});
});

describe('a status read', () => {
	it.each([
		['about another payment', { status: 'FOUND', data: { depositId: randomUUID(), status: 'COMPLETED' } }],
		['without a state around it', { status: 'COMPLETED' }],
		['that is a list', []],
		['that is empty', '']
	])('with an answer %s decides nothing', async (_name, body) => {
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		receiver.reply('/v2/deposits/x', { status: 200, body: text });
		configure({ PAWAPAY_BASE_URL: receiver.url });
		expect(await read('x')).toMatchObject({ kind: 'unavailable' });
	});
});

describe('the message to the payer', () => {
	it.each([
		['Wi-Fi 1 hour', 'WiFi 1 hour'],
		['Café «Été» n° 5', 'Cafe Ete n 5'],
		['1h', 'WiFi 1h'],
		['', 'WiFi'],
		['—', 'WiFi'],
		['Wi-Fi 30 days, 23 hours and 59 minutes', 'WiFi 30 days 23 hours'],
		['Wi-Fi 1 hour\nat Mama’s', 'WiFi 1 hour at Mamas']
	])('%j becomes %j', (description, message) => {
		expect(customerMessage(description)).toBe(message);
		expect(message).toMatch(/^[A-Za-z0-9 ]{4,22}$/);
	});
});

describe('a refund', () => {
	const paid = async (script: Partial<Script> = {}) => {
		const { asked } = await pay(script);
		simulator.advance(60_000);
		return asked;
	};

	it('sends the money back', async () => {
		const payment = await paid({ refund: { afterMs: 2_000 } });
		const refund = refundOf(payment);
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		expect(sent('/v2/refunds')).toEqual([
			{ refundId: refund.reference, depositId: payment.reference, amount: '500', currency: 'RWF' }
		]);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'pending' });
		simulator.advance(5_000);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ debited: 500, refunded: 500, refunds: 1 });
	});

	it('that was lost is found by its reference, and not paid twice', async () => {
		const refund = refundOf(await paid({ refund: { submit: 'drop_after' } }));
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'uncertain' });
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'accepted' });
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ refunded: 500, refunds: 1 });
	});

	it('fails when the operator reports it, and is unknown when it never arrived', async () => {
		const payment = await paid({ refund: { outcome: 'RECIPIENT_NOT_FOUND' } });
		const refund = refundOf(payment);
		await adapter.refund?.(refund);
		expect(await adapter.readRefund?.(readingOf(refund))).toMatchObject({
			kind: 'failed',
			reason: 'payer_not_found'
		});
		expect(await adapter.readRefund?.(readingOf(refundOf(payment)))).toMatchObject({ kind: 'not_found' });
	});

	it('of more than was taken is refused for good', async () => {
		const refund = { ...refundOf(await paid()), amountMinor: 600 };
		expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: false });
	});

	it.each(['PROVIDER_TEMPORARILY_UNAVAILABLE', 'REFUND_IN_PROGRESS', 'PAWAPAY_WALLET_OUT_OF_FUNDS'])(
		'may be sent again after %s',
		async (submitCode) => {
			const refund = refundOf(await paid({ refund: { submit: 'refuse', submitCode } }));
			expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: true });
		}
	);
});

describe('amounts', () => {
	it('have decimals if the provider supports them, and are read back in minor units', async () => {
		const zambian = adapterFor({ PAWAPAY_PROVIDERS: 'mtn_momo=MTN_MOMO_ZMB' }, { currency: 'ZMW' });
		const order = { amountMinor: 1_050, currency: 'ZMW', payerPhone: '+260763456789' };
		for (const amountMinor of [1_000, 55]) await zambian.submit(request({ ...order, amountMinor }));
		const payment = request(order);
		await zambian.submit(payment);
		simulator.advance(60_000);
		expect(await zambian.readStatus(attempt(payment))).toMatchObject({ amountMinor: 1_050, currency: 'ZMW' });
		expect(sent('/v2/deposits').map(({ amount }) => amount)).toEqual(['10', '0.55', '10.50']);
	});

	it.each(['object', 'list'])(
		'with a fraction are refused if the account allows none, in both forms (%s)',
		async (operation_types) => {
			simulator.portal({ operation_types });
			const kenyan = adapterFor({ PAWAPAY_PROVIDERS: 'mpesa=MPESA_KEN' }, { currency: 'KES' });
			const payment = request({
				amountMinor: 1_050,
				currency: 'KES',
				payerPhone: '+254703456789',
				paymentMethod: 'mpesa'
			});
			expect(await kenyan.submit(payment)).toMatchObject({ kind: 'refused', reason: 'merchant_error' });
			expect(sent('/v2/deposits')).toEqual([]);
			// Known from now on.
			for (const method of ['mpesa', 'mobile_money']) {
				expect(kenyan.amounts(method)).toMatchObject({ stepMinor: 100, maxMinor: 25_000_000 });
				expect(kenyan.amounts(method, true)).toMatchObject({ stepMinor: 100, maxMinor: 15_000_000 });
			}
			expect(await kenyan.submit({ ...payment, amountMinor: 1_000 })).toMatchObject({ kind: 'accepted' });
			expect(sent('/v2/deposits')).toMatchObject([{ amount: '10' }]);
		}
	);

	it('follow the currency as long as nothing is known', () => {
		const amounts = (currency: string, providers: string) =>
			adapterFor({ PAWAPAY_PROVIDERS: providers }, { currency }).amounts('mpesa');
		expect(amounts('TZS', 'mpesa=VODACOM_TZA')).toMatchObject({ stepMinor: 100, minMinor: 1 });
		expect(amounts('KES', 'mpesa=MPESA_KEN')).toMatchObject({ stepMinor: 1, minMinor: 1 });
		expect(adapterFor().currency).toBe('RWF');
	});

	it('do not wait for an unavailable configuration', async () => {
		receiver.reply('/v2/active-conf', 'drop');
		receiver.reply('/v2/deposits', { status: 200, body: '{"status":"ACCEPTED"}' });
		const own = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		for (const payment of [request(), request()])
			expect(await own.submit(payment)).toMatchObject({ kind: 'accepted' });
		// Not asked for again at once.
		expect(receiver.at('/v2/active-conf')).toHaveLength(1);
	});

	it('need one look at the configuration for twenty payments at once, and another one later', async () => {
		const looks = () => simulator.requests.filter(({ path }) => path === '/v2/active-conf').length;
		await Promise.all(Array.from({ length: 20 }, () => adapter.submit(request())));
		expect(looks()).toBe(1);
		simulator.advance(11 * 60_000);
		await adapter.submit(request());
		expect(looks()).toBe(2);
	});
});

describe('the provider', () => {
	const providerOf = async (more: Partial<PaymentRequest>, by = adapter) => {
		await by.submit(request(more));
		const last = sent('/v2/deposits').at(-1) as
			{ payer: { accountDetails: { provider: string } } } | undefined;
		return last?.payer.accountDetails.provider;
	};
	const predictions = () => sent('/v2/predict-provider').length;

	it('is the one of the method that was chosen, whatever the number looks like', async () => {
		expect(await providerOf({ paymentMethod: 'airtel_money' })).toBe('AIRTEL_RWA');
		expect(await providerOf({ payerPhone: '+250733456789' })).toBe('MTN_MOMO_RWA');
		expect(predictions()).toBe(0);
	});

	it('is predicted when the choice was left to us', async () => {
		const airtel = { paymentMethod: 'mobile_money', payerPhone: '+250733456789' };
		expect(await providerOf(airtel)).toBe('AIRTEL_RWA');
		expect(sent('/v2/predict-provider')).toEqual([{ phoneNumber: '250733456789' }]);
	});

	it('is guessed when there is no prediction, else the first of the country', async () => {
		receiver.reply('/v2/predict-provider', 'drop');
		const used: string[] = [];
		receiver.reply('/v2/deposits', ({ raw }) => {
			used.push(raw);
			return { status: 200, body: '{"status":"ACCEPTED"}' };
		});
		const own = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		for (const payerPhone of ['+250733456789', '+250703456789'])
			await own.submit(request({ paymentMethod: 'mobile_money', payerPhone }));
		expect(used[0]).toContain('AIRTEL_RWA');
		expect(used[1]).toContain('MTN_MOMO_RWA');
	});

	it('is not one that was not set up, although predicted', async () => {
		const mtnOnly = adapterFor({ PAWAPAY_PROVIDERS: 'mtn_momo=MTN_MOMO_RWA' });
		const airtel = { paymentMethod: 'mobile_money', payerPhone: '+250733456789' };
		expect(await providerOf(airtel, mtnOnly)).toBe('MTN_MOMO_RWA');
	});

	it('takes numbers of its country', () => {
		expect(adapter.takesNumber('+250733456789')).toBe(true);
		expect(adapter.takesNumber('+256772123456')).toBe(false);
	});
});

/** Callbacks of pawaPay, and their signatures. */
describe('callbacks', () => {
	beforeEach(() => simulator.portal({ callback_url: receiver.url + CALLBACKS }));

	describe('a callback', () => {
		const raw = ({ method, path, headers, raw: body }: Received): RawCallback => ({
			method,
			path,
			authority: String(headers.host),
			headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
			bytes: Buffer.from(body),
			body
		});

		async function received(count = 1): Promise<RawCallback[]> {
			await expect.poll(() => receiver.at(CALLBACKS)).toHaveLength(count);
			return receiver.at(CALLBACKS).map(raw);
		}

		/** A payment and its first callback. */
		async function called(script: Partial<Script> = {}) {
			const { asked } = await pay(script);
			simulator.advance(2_000);
			const [callback] = await received();
			if (!callback) throw new Error('no callback');
			return { payment: asked, callback };
		}

		/** From now on. */
		const verify = () => {
			simulator.portal({ signed_callbacks: 'on' });
			configure({ PAWAPAY_VERIFY_CALLBACKS: 'on' }, { callbackUrl: receiver.url });
		};

		it('names the payment and what it claims', async () => {
			const { payment, callback } = await called();
			expect(await adapter.parseCallback(callback)).toEqual({
				claimed: 'succeeded',
				authentic: 'absent',
				reference: payment.reference,
				operatorReference: null,
				providerReference: '12000001',
				amountMinor: 500,
				currency: 'RWF'
			});
		});

		it('of a refund names the refund', async () => {
			const { payment } = await called();
			const refund = refundOf(payment);
			await adapter.refund?.(refund);
			const [, second] = await received(2);
			expect(second && (await adapter.parseCallback(second))).toMatchObject({
				claimed: 'succeeded',
				reference: refund.reference
			});
		});

		it.each(['', '[]', '{"status":{}}', '{"depositId":7,"status":"NEW","amount":[]}'])(
			'with the body %j is parsed as far as possible',
			async (body) => {
				const callback = callbackOf('http://a.example/', body);
				expect(await adapter.parseCallback(callback)).toMatchObject({ claimed: 'unknown' });
				verify();
				expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'invalid' });
			}
		);

		it('in the form of the first version of the API is understood', async () => {
			const body = JSON.stringify({
				depositId: 'f4401bd2-1568-4140-bf2d-eb77d2b2b639',
				status: 'COMPLETED',
				requestedAmount: '15',
				depositedAmount: '15.00',
				currency: 'RWF'
			});
			const callback = callbackOf('http://a.example/', body);
			expect(await adapter.parseCallback(callback)).toMatchObject({
				claimed: 'succeeded',
				amountMinor: 15
			});
		});

		it.each([false, true])('that pawaPay signed is verified, in both forms (%s)', async (otherForm) => {
			verify();
			const { callback } = await called({ otherForm });
			expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'verified' });
		});

		it('asks for the keys once, however many come at the same time', async () => {
			verify();
			const { callback } = await called();
			verify();
			const hints = await Promise.all(Array.from({ length: 20 }, () => adapter.parseCallback(callback)));
			expect(new Set(hints.map(({ authentic }) => authentic))).toEqual(new Set(['verified']));
			expect(simulator.requests.filter(({ path }) => path === '/v2/public-key/http')).toHaveLength(1);
		});

		it.each(['bad_signature', 'no_signature', 'forged_success', 'garbage'] as const)(
			'that is altered (%s) is invalid',
			async (alter) => {
				verify();
				const callbacks = [{ when: 'at_outcome', afterMs: 0, times: 1, alter } as const];
				const { callback } = await called({ callbacks });
				expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'invalid' });
			}
		);

		it('is invalid when anything that was signed differs, and when it has expired', async () => {
			verify();
			const { callback } = await called();
			const { headers } = callback;
			const with_ = (name: string, from: string | RegExp, to: string): RawCallback => ({
				...callback,
				headers: { ...headers, [name]: (headers[name] ?? '').replace(from, to) }
			});
			const altered: Record<string, RawCallback> = {
				body: { ...callback, bytes: Buffer.from(callback.body.replace('"500"', '"900"')) },
				method: { ...callback, method: 'PUT' },
				path: { ...callback, path: '/callbacks/pawapay/other' },
				key: with_('signature-input', 'KEY:2', 'KEY:1'),
				'unknown key': with_('signature-input', 'KEY:2', 'KEY:9'),
				expires: with_('signature-input', /expires=\d+/, 'expires=9999999999'),
				'no expires': with_('signature-input', /;expires=\d+/, ''),
				algorithm: with_('signature-input', 'ecdsa-p256-sha256', 'hmac-sha256'),
				'fewer components': with_('signature-input', ' "content-digest"', ''),
				'repeated component': with_('signature-input', '"@method"', '"@method" "@method"'),
				'no digest': with_('content-digest', /.*/, ''),
				date: with_('signature-date', '20', '19'),
				'no signature': with_('signature', /.*/, ''),
				garbage: with_('signature-input', /.*/, '(((')
			};
			for (const [name, one] of Object.entries(altered)) {
				expect(await adapter.parseCallback(one), name).toMatchObject({ authentic: 'invalid' });
			}
			expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'verified' });
			simulator.advance(7 * 60_000);
			expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'invalid' });
		});

		it('is verified behind a proxy that changed host and path', async () => {
			simulator.portal({ signed_callbacks: 'on', callback_url: `${receiver.url}/airtill${CALLBACKS}` });
			configure({ PAWAPAY_VERIFY_CALLBACKS: 'on' }, { callbackUrl: `${receiver.url}/airtill` });
			await pay();
			simulator.advance(2_000);
			const path = `/airtill${CALLBACKS}`;
			await expect.poll(() => receiver.at(path)).toHaveLength(1);
			const [came] = receiver.at(path).map(raw);
			if (!came) throw new Error('no callback');
			const inside = { ...came, path: CALLBACKS, authority: '10.0.0.5:3000' };
			expect(await adapter.parseCallback(inside)).toMatchObject({ authentic: 'verified' });
		});

		it('with unknown keys does not make us ask for keys again and again', async () => {
			verify();
			const { callback } = await called();
			const forged = (id: number) => ({
				...callback,
				headers: {
					...callback.headers,
					'signature-input': (callback.headers['signature-input'] ?? '').replace('KEY:2', `KEY:${id}`)
				}
			});
			for (let id = 10; id < 30; id += 1) await adapter.parseCallback(forged(id));
			const asked = () => simulator.requests.filter(({ path }) => path === '/v2/public-key/http').length;
			expect(asked()).toBe(1);
			simulator.advance(61_000);
			await adapter.parseCallback(forged(30));
			expect(asked()).toBe(2);
		});
	});
});

/** Settings of pawaPay: signed requests, health, and what is refused. */
describe('settings', () => {
	const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
	const PRIVATE_PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
	const PUBLIC_PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();

	beforeEach(() => simulator.portal({ callback_url: receiver.url + CALLBACKS }));

	describe('a signed request', () => {
		const keys = () => ({ PAWAPAY_SIGNING_KEY: PRIVATE_PEM, PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:1' });

		beforeEach(() => {
			simulator.portal({ signed_requests: 'on', merchant_key_id: 'AIRTILL:1', merchant_key: PUBLIC_PEM });
		});

		it('is accepted by an account that requires signatures', async () => {
			configure(keys(), { callbackUrl: receiver.url });
			const { asked, outcome } = await pay();
			expect(outcome).toMatchObject({ kind: 'accepted' });
			simulator.advance(60_000);
			expect(await adapter.refund?.(refundOf(asked))).toMatchObject({ kind: 'accepted' });
		});

		it('with line breaks written out is taken as well', async () => {
			const written = { ...keys(), PAWAPAY_SIGNING_KEY: PRIVATE_PEM.replaceAll('\n', '\\n') };
			expect(await adapterFor(written).submit(request())).toMatchObject({ kind: 'accepted' });
		});

		it('is refused when it is not there or of another key', async () => {
			const refused = { kind: 'refused', reason: 'merchant_error', retryable: false };
			expect(await adapter.submit(request())).toMatchObject(refused);
			expect(
				await adapterFor({ ...keys(), PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:2' }).submit(request())
			).toMatchObject(refused);
			simulator.portal({ merchant_key: otherPublicKey() });
			expect(await adapterFor(keys()).submit(request())).toMatchObject(refused);
			expect(simulator.books.payments).toEqual([]);
		});

		const otherPublicKey = () =>
			generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
				.publicKey.export({ type: 'spki', format: 'pem' })
				.toString();
	});

	describe('health', () => {
		it.each<[string, Record<string, string>, RegExp, Partial<Installation>?]>([
			['the token', { PAWAPAY_API_TOKEN: 'wrong' }, /refuses the API token.*AUTHENTICATION/],
			['the address', { PAWAPAY_BASE_URL: 'http://127.0.0.1:9' }, /cannot be reached/],
			[
				'a provider',
				{ PAWAPAY_PROVIDERS: 'orange_money=ORANGE_RWA' },
				/ORANGE_RWA does not take deposits in RWF/
			],
			[
				'a provider that cannot prompt',
				{ PAWAPAY_PROVIDERS: 'orange_money=ORANGE_BFA' },
				/ORANGE_BFA does not ask the payer on the phone \(PREAUTH\)/,
				{ currency: 'XOF' }
			],
			['callbacks that are not signed', { PAWAPAY_VERIFY_CALLBACKS: 'on' }, /does not sign callbacks/],
			[
				'callbacks to another address',
				{},
				/callbacks of MTN_MOMO_RWA go elsewhere/,
				{ callbackUrl: 'https://airtill.example' }
			]
		])('names the problem with %s', async (_name, env, reason, more) => {
			expect(await adapterFor(env, more).health()).toMatch(reason);
		});

		it('names what the account requires, a network that is down, and an outage', async () => {
			simulator.portal({ signed_requests: 'on' });
			expect(await adapterFor().health()).toMatch(/signed requests only: set PAWAPAY_SIGNING_KEY/);
			simulator.portal({ signed_requests: 'off', closed: 'AIRTEL_RWA' });
			expect(await adapterFor().health()).toMatch(/^AIRTEL_RWA is CLOSED$/);
			simulator.outage('error');
			expect(await adapterFor().health()).toMatch(/HTTP 500, UNKNOWN_ERROR/);
		});
	});

	describe('settings', () => {
		it.each([
			['PAWAPAY_BASE_URL', 'api.pawapay.io'],
			['PAWAPAY_API_TOKEN', ' token'],
			['PAWAPAY_PROVIDERS', 'MTN_MOMO_RWA'],
			['PAWAPAY_PROVIDERS', 'mtn=MTN_MOMO_RWA'],
			['PAWAPAY_PROVIDERS', 'mobile_money=MTN_MOMO_RWA'],
			['PAWAPAY_PROVIDERS', 'mtn_momo=mtn_momo_rwa'],
			['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_RWA,mtn_momo=AIRTEL_RWA'],
			['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_RWA,'],
			['PAWAPAY_PROVIDERS', 'mtn_momo=MTN_MOMO_UGA'],
			['PAWAPAY_VERIFY_CALLBACKS', 'yes'],
			['PAWAPAY_SIGNING_KEY', 'secret-that-is-no-key']
		])('refuse %s=%j and name the variable', (name, value) => {
			const problems = problemsOf({ [name]: value });
			expect(problems).toHaveLength(1);
			expect(problems[0]).toMatch(new RegExp(`^PAWAPAY_\\w+: \\S`));
			expect(problems[0]).toContain(name);
			expect(problems[0]).not.toContain('secret-that');
		});

		it('want a signing key and its name together', () => {
			expect(problemsOf({ PAWAPAY_SIGNING_KEY: PRIVATE_PEM })).toEqual([
				'PAWAPAY_SIGNING_KEY_ID: is required when PAWAPAY_SIGNING_KEY is set.'
			]);
			expect(problemsOf({ PAWAPAY_SIGNING_KEY_ID: 'AIRTILL:1' })).toEqual([
				'PAWAPAY_SIGNING_KEY: is required when PAWAPAY_SIGNING_KEY_ID is set.'
			]);
		});

		it('keep sandbox and live apart', () => {
			const live = { mode: 'live', callbackUrl: 'https://airtill.example' } as const;
			const production = { PAWAPAY_BASE_URL: 'https://api.pawapay.io/' };
			expect(problemsOf(production, live)).toEqual([]);
			expect(problemsOf(production)).toHaveLength(1);
			expect(problemsOf({ PAWAPAY_BASE_URL: 'https://api.sandbox.pawapay.io' }, live)).toHaveLength(1);
			expect(problemsOf({ PAWAPAY_BASE_URL: 'http://gateway.example' }, live)).toHaveLength(1);
			expect(problemsOf(production, { ...live, callbackUrl: 'http://airtill.example' })).toHaveLength(1);
			expect(problemsOf({ PAWAPAY_BASE_URL: 'https://api.sandbox.pawapay.io' })).toEqual([]);
		});
	});
});
