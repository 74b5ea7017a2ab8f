/** M-Pesa Express: pushes, status reads, callbacks, reversals and settings. */
import { describe, expect, it } from 'vitest';
import { submitOutcome } from '#lib/server/billing/operators/mpesa.ts';
import { mpesa } from '../../simulators/mpesa.ts';
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
	useOperator,
	callbackOf,
	claimAt,
	readingOf,
	refundOf,
	configured,
	problemsOf
} from '../../support/billing/adapter.ts';
import { MPESA } from '../../support/billing/tested-operators.ts';
import type { RefundRequest } from '#lib/server/billing/operators/operator.ts';
import type { Script } from '../../simulators/script.ts';

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

describe('a status read', () => {
	it.each([false, true])('is pending while Daraja is processing (other form: %s)', async (otherForm) => {
		const { reference } = await pushed({ outcome: 'pending', otherForm });
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'pending' });
	});

	it('is success when the query returns 0; amount and receipt come only from a callback', async () => {
		const { asked, reference } = await pushed();
		simulator.advance(1_000);
		expect(await adapter.readStatus(reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: null,
			amountMinor: null,
			currency: null
		});
		const claim = await claimAt(asked.callbackUrl);
		expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKA0000001',
			amountMinor: 2_500,
			currency: 'KES'
		});
	});

	it('finds a push whose answer and callback were lost in the list of settled payments, when allowed', async () => {
		configure({ MPESA_PULL: 'on' });
		simulator.script({}, { submit: 'drop_after', callbacks: [] });
		const asked = request();
		await adapter.submit(asked);
		const reference = attempt(asked);
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'unreadable' });
		simulator.advance(1_000);
		expect(await adapter.readStatus(reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKA0000001',
			amountMinor: 2_500,
			currency: 'KES'
		});
		expect(await adapter.readStatus(attempt(request()))).toMatchObject({ kind: 'unreadable' });
		simulator.outage('error');
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'unreadable' });
	});

	it('that no callback completed takes amount and receipt from that list, when allowed', async () => {
		configure({ MPESA_PULL: 'on' });
		const { reference } = await pushed({ callbacks: [], amountFactor: 2 });
		simulator.advance(1_000);
		expect(await adapter.readStatus(reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKA0000001',
			amountMinor: 5_000,
			currency: 'KES'
		});
	});

	it.each([
		[{ contradicts: true }, {}],
		[{ failedReads: 2 }, {}],
		// The list names no account of a till's payers.
		[{ contradicts: true }, { MPESA_TILL: '5174379' }]
	])(
		'that does not confirm a paid callback is overruled by that list, when allowed: %j %j',
		async (script, settings) => {
			configure(settings);
			const { asked, reference } = await pushed(script);
			simulator.advance(1_000);
			const claim = await claimAt(asked.callbackUrl);
			expect((await adapter.readStatus({ ...reference, claim })).kind).not.toBe('succeeded');
			configure({ ...settings, MPESA_PULL: 'on' });
			expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({
				kind: 'succeeded',
				providerReference: 'SKA0000001',
				amountMinor: 2_500,
				currency: 'KES'
			});
		}
	);

	it('that denies a payment whose callback was lost is overruled by that list, when allowed', async () => {
		const { reference } = await pushed({ contradicts: true, callbacks: [] });
		simulator.advance(1_000);
		expect((await adapter.readStatus(reference)).kind).toBe('failed');
		configure({ MPESA_PULL: 'on' });
		expect(await adapter.readStatus(reference)).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKA0000001',
			amountMinor: 2_500
		});
		const { asked, reference: declined } = await pushed({ outcome: '1032' });
		simulator.advance(1_000);
		expect((await adapter.readStatus(declined)).kind).toBe('failed');
		// A callback that says the same as the read needs no list.
		const [claim, before] = [await claimAt(asked.callbackUrl), simulator.requests.length];
		expect((await adapter.readStatus({ ...declined, claim })).kind).toBe('failed');
		expect(simulator.requests.slice(before).map(({ path }) => path)).toEqual([
			'/mpesa/stkpushquery/v1/query'
		]);
	});

	it.each([{}, { MPESA_TILL: '5174379' }])(
		'is overruled by that list after a person has denied the callback, but not by another receipt: %j',
		async (settings) => {
			configure({ ...settings, MPESA_PULL: 'on' });
			const { asked, reference } = await pushed({ contradicts: true });
			simulator.advance(1_000);
			const claim = await claimAt(asked.callbackUrl);
			const denied = { ...claim, claimed: 'failed' } as const;
			expect((await adapter.readStatus({ ...reference, claim: denied })).kind).toBe('succeeded');
			const other = { ...claim, providerReference: 'PAID0BYHAND' };
			expect((await adapter.readStatus({ ...reference, claim: other })).kind).not.toBe('succeeded');
		}
	);

	it.each([
		['insufficient_funds', '1'],
		['payer_limit_reached', '2 3 4'],
		['merchant_error', '8 2028 SFC_IC0003'],
		['provider_error', '17 1025 9999'],
		['provider_unavailable', '1001'],
		['payer_timeout', '1019 1037'],
		['payer_rejected', '1032'],
		['payer_rejected', '2001'],
		['provider_error', '8006'],
		['provider_error', '777']
	])('is failed, %s, with result %s', async (reason, codes) => {
		for (const outcome of codes.split(' ')) {
			const { asked, reference } = await pushed({ outcome, guards: false });
			simulator.advance(1_000);
			expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'failed', reason });
			const claim = await claimAt(asked.callbackUrl);
			expect(claim.claimed).toBe('failed');
			expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({ kind: 'failed', reason });
		}
	});

	it.each(['off', 'on'])(
		'stays pending when a callback claims success too early (list: %s)',
		async (list) => {
			configure({ MPESA_PULL: list });
			const { asked, reference } = await pushed({
				outcome: 'pending',
				callbacks: [{ when: 'before_answer', afterMs: 0, times: 1, alter: 'forged_success' }]
			});
			const claim = await claimAt(asked.callbackUrl);
			expect(claim).toMatchObject({ claimed: 'succeeded', providerReference: 'FORGED0001' });
			expect((await adapter.readStatus({ ...reference, claim })).kind).toBe('pending');
		}
	);

	it('takes neither amount nor receipt from a callback that names another push', async () => {
		const { asked, reference } = await pushed({
			callbacks: [{ when: 'at_outcome', afterMs: 0, times: 1, alter: 'wrong_id' }]
		});
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		expect(claim.operatorReference).not.toBe(reference.operatorReference);
		expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({
			kind: 'succeeded',
			providerReference: null,
			amountMinor: null
		});
	});

	it('of a push that Daraja does not know decides nothing', async () => {
		const { reference } = await pushed({ notFoundReads: 1, outcome: 'pending' });
		const stranger = { ...reference, operatorReference: 'ws_CO_0' };
		for (const one of [reference, stranger]) {
			expect((await adapter.readStatus(one)).kind).toBe('unavailable');
		}
	});
});

describe('a callback', () => {
	const parse = (body: string, at = '/callbacks/daraja/r/t') =>
		adapter.parseCallback(callbackOf(`http://airtill.example${at}`, body));
	const NOTHING = {
		claimed: 'unknown',
		authentic: 'absent',
		reference: null,
		operatorReference: null,
		providerReference: null,
		amountMinor: null,
		currency: null
	};

	it('is parsed as documented, with values missing, masked or in another order', async () => {
		const item = (items: object[]) =>
			parse(
				JSON.stringify({
					Body: {
						stkCallback: { CheckoutRequestID: 'ws_CO_1', ResultCode: 0, CallbackMetadata: { Item: items } }
					}
				})
			);
		const read = {
			...NOTHING,
			claimed: 'succeeded',
			operatorReference: 'ws_CO_1',
			providerReference: 'NLJ7RT61SV',
			amountMinor: 100,
			currency: 'KES'
		};
		const amount = { Name: 'Amount', Value: 1.0 };
		const receipt = { Name: 'MpesaReceiptNumber', Value: 'NLJ7RT61SV' };
		const phone = { Name: 'PhoneNumber', Value: '254708***149' };
		expect(await item([amount, receipt, { Name: 'Balance' }, phone])).toEqual(read);
		expect(await item([phone, receipt, { Name: 'Amount', Value: '1.00' }])).toEqual(read);
		const grouped = { Name: 'Amount', Value: 'KES 1,000.00' };
		expect(await item([phone, receipt, grouped])).toEqual({ ...read, amountMinor: 100_000 });
		expect(await item([receipt])).toEqual({ ...read, amountMinor: null, currency: null });
	});

	it('of a failure names the push; its code may be a text', async () => {
		const failure = (ResultCode: unknown) =>
			parse(JSON.stringify({ Body: { stkCallback: { CheckoutRequestID: 'ws_CO_1', ResultCode } } }));
		for (const code of [1032, '1032', 'SFC_IC0003']) {
			expect(await failure(code)).toEqual({ ...NOTHING, claimed: 'failed', operatorReference: 'ws_CO_1' });
		}
		expect(await failure(undefined)).toMatchObject({ claimed: 'unknown' });
		expect(await failure(4999)).toMatchObject({ claimed: 'pending' });
	});

	it.each([
		...['', '<oops', '[]', 'null', '7', '{"Body":null}', '{"Body":{"stkCallback":[]}}'],
		...['{"Body":{"stkCallback":{"ResultCode":{}}}}', '{"Result":"x"}']
	])('of another form is parsed as unknown: %s', async (body) => {
		expect(await parse(body)).toEqual(NOTHING);
	});

	it('of a queue timeout is no failure', async () => {
		const body = JSON.stringify({ Result: { ResultCode: 1, ResultDesc: 'timed out' } });
		expect(await parse(body, '/callbacks/daraja/r/t?notice=timeout')).toEqual({
			...NOTHING,
			claimed: 'pending'
		});
	});
});

/** Reversals, against the simulated Daraja. */
describe('a refund', () => {
	/** A payment with its receipt, and a refund of it. */
	async function owed(script: Partial<Script> = {}) {
		const { asked, reference } = await pushed(script);
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		const { operatorReference } = reference;
		const { providerReference } = claim;
		const refund = refundOf(asked, { operatorReference, providerReference });
		return { refund, reading: readingOf(refund) };
	}
	const send = async (refund: RefundRequest) => {
		const outcome = await adapter.refund?.(refund);
		if (!outcome) throw new Error('There are no refunds');
		return outcome;
	};

	it('reverses the receipt, waits, and ends with the result that is sent to its address', async () => {
		const { refund, reading } = await owed();
		const outcome = await send(refund);
		expect(outcome).toMatchObject({ kind: 'accepted', operatorReference: expect.any(String) });
		expect(lastSent()).toMatchObject({
			Initiator: 'simulatedapi',
			CommandID: 'TransactionReversal',
			TransactionID: 'SKA0000001',
			Amount: '25',
			ReceiverParty: '174379',
			RecieverIdentifierType: '11',
			ResultURL: refund.callbackUrl,
			QueueTimeOutURL: `${refund.callbackUrl}?notice=timeout`
		});
		const operatorReference = outcome.kind === 'accepted' ? outcome.operatorReference : null;
		const later = { ...reading, operatorReference };
		expect(await adapter.readRefund?.({ ...later, claim: null })).toMatchObject({ kind: 'pending' });
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(claim).toMatchObject({ claimed: 'succeeded', operatorReference, amountMinor: 2_500 });
		expect(await adapter.readRefund?.({ ...later, claim })).toMatchObject({
			kind: 'succeeded',
			providerReference: 'SKR0000001',
			amountMinor: 2_500
		});
		expect(simulator.ledger()).toMatchObject({ debited: 25, refunded: 25 });
	});

	it('with a lost result is queried; the answer comes to its address, too', async () => {
		const { refund, reading } = await owed({ refund: { callbacks: [], afterMs: 2_000 } });
		const outcome = await send(refund);
		const operatorReference = outcome.kind === 'accepted' ? outcome.operatorReference : null;
		const later = { ...reading, operatorReference, claim: null };
		const url = `${refund.callbackUrl}?notice=status`;
		const at = new URL(url).pathname + new URL(url).search;

		await adapter.readRefund?.(later);
		expect(lastSent()).toMatchObject({
			CommandID: 'TransactionStatusQuery',
			OriginalConversationID: operatorReference,
			IdentifierType: '4',
			ResultURL: url
		});
		simulator.advance(100);
		await expect.poll(() => receiver.at(at).length).toBe(1);
		const early = await adapter.parseCallback(callbackOf(url, receiver.at(at)[0]?.raw ?? ''));
		expect(early).toMatchObject({ claimed: 'pending', operatorReference });

		simulator.advance(2_000);
		await adapter.readRefund?.(later);
		simulator.advance(100);
		await expect.poll(() => receiver.at(at).length).toBe(2);
		expect(await claimAt(url)).toMatchObject({
			claimed: 'succeeded',
			operatorReference,
			providerReference: 'SKR0000001',
			amountMinor: 2_500
		});
	});

	it('with a failed query is neither failed nor done', async () => {
		const body = JSON.stringify({ Result: { ResultCode: 2001, OriginatorConversationID: 'x' } });
		const hint = await adapter.parseCallback(callbackOf('http://a.example/c?notice=status', body));
		expect(hint.claimed).toBe('pending');
	});

	it('that was refused in the end is failed', async () => {
		const { refund, reading } = await owed({ refund: { outcome: '2028' } });
		await send(refund);
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({
			kind: 'failed',
			reason: 'merchant_error'
		});
	});

	it('of a payment that was reversed before is done', async () => {
		const { refund, reading } = await owed();
		await send(refund);
		simulator.advance(1_000);
		const again = { ...refund, callbackUrl: `${refund.callbackUrl}-again` };
		await send(again);
		simulator.advance(1_000);
		const claim = await claimAt(again.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({ kind: 'succeeded' });
		expect(simulator.ledger()).toMatchObject({ refunded: 25, refunds: 1 });
	});

	it('with a lost answer is found by its result, and cannot be queried before', async () => {
		const { refund, reading } = await owed({ refund: { submit: 'drop_after' } });
		expect(await send(refund)).toMatchObject({ kind: 'uncertain' });
		expect(await adapter.readRefund?.({ ...reading, claim: null })).toMatchObject({ kind: 'unreadable' });
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({ kind: 'succeeded' });
	});

	it('without a receipt waits for it; without an initiator refunds are off', async () => {
		const { refund } = await owed();
		const before = simulator.requests.length;
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({
			kind: 'refused',
			reason: 'provider_unavailable',
			retryable: true
		});
		expect(simulator.requests).toHaveLength(before);
		const without = adapterWith({ MPESA_INITIATOR: '', MPESA_SECURITY_CREDENTIAL: '' });
		expect(without.refund).toBeUndefined();
		expect(without.readRefund).toBeUndefined();
	});

	it('without a receipt finds it in the list of settled payments, when allowed', async () => {
		configure({ MPESA_PULL: 'on' });
		const { refund } = await owed();
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({ kind: 'accepted' });
		expect(lastSent()).toMatchObject({ TransactionID: 'SKA0000001' });
	});
});

describe('the operator', () => {
	it('takes Kenyan mobile numbers', () => {
		for (const phone of ['+254708374149', '+254110000000']) expect(adapter.takesNumber(phone)).toBe(true);
		for (const phone of ['+256772000001', '+25470837414', '+254208374149', '254708374149']) {
			expect(adapter.takesNumber(phone)).toBe(false);
		}
	});

	it('charges whole shillings up to 250,000', () => {
		expect(adapter.currency).toBe('KES');
		expect(adapter.amounts('mpesa')).toEqual({ stepMinor: 100, minMinor: 100, maxMinor: 25_000_000 });
	});

	it('checks its health without moving money, and names the problem', async () => {
		expect(await adapter.health()).toBeNull();
		expect(await adapterWith({ MPESA_CONSUMER_SECRET: 'wrong' }).health()).toMatch(
			/refuses MPESA_CONSUMER_KEY and MPESA_CONSUMER_SECRET/
		);
		expect(await adapterWith({ MPESA_BASE_URL: 'http://127.0.0.1:9' }).health()).toBe(
			'http://127.0.0.1:9 gives no token: network.'
		);
		// Daraja gives a token without them and refuses every push.
		for (const wrong of [{ MPESA_PASSKEY: 'wrong' }, { MPESA_SHORTCODE: '174378' }]) {
			expect(await adapterWith(wrong).health()).toMatch(
				/refuses MPESA_SHORTCODE or MPESA_PASSKEY \((Wrong|Merchant)/
			);
		}
		simulator.outage('error');
		expect(await adapterWith().health()).not.toBeNull();
		expect(simulator.requests.some(({ path }) => path.includes('processrequest'))).toBe(false);
	});
});

describe('the settings', () => {
	it('name the payment in the list of settled ones', () => {
		const [mpesa] = configured().operators;
		const { referenceStart } = mpesa?.statement ?? {};
		expect(referenceStart?.('0F8FAD5BD9CB')).toBe('0f8fad5b-d9cb');
		expect(referenceStart?.('Jane, room 4')).toBeNull();
	});

	it.each<[name: string, changes: Record<string, string>]>([
		['MPESA_INITIATOR', { MPESA_INITIATOR: '' }],
		['MPESA_SECURITY_CREDENTIAL', { MPESA_SECURITY_CREDENTIAL: '' }]
	])('of refunds name %s when only some are set: %j', (name, changes) => {
		const problems = problemsOf(changes);
		expect(problems).toHaveLength(1);
		expect(problems[0]).toMatch(new RegExp(`^${name}: .*\\.$`));
	});

	it('require Kenyan shillings, and in live mode a public https address without words that M-Pesa forbids', () => {
		expect(problemsOf({}, { currency: 'UGX' })).toEqual(['CURRENCY: must be KES with M-Pesa.']);
		const live = { mode: 'live', currency: 'KES', callbackUrl: 'https://pay.example' } as const;
		const base = { MPESA_BASE_URL: 'https://api.safaricom.co.ke' };
		expect(problemsOf(base, live)).toEqual([]);
		const problem = 'MPESA_BASE_URL: takes real money, which AIRTILL_MODE=sandbox must not.';
		expect(problemsOf(base)).toEqual([problem]);
		expect(problemsOf({}, live)).toEqual(['MPESA_BASE_URL: must be https in live mode.']);
		const sandbox = { MPESA_BASE_URL: 'https://sandbox.safaricom.co.ke/' };
		expect(problemsOf(sandbox, live)[0]).toMatch(/^MPESA_BASE_URL: is a test system/);
		expect(problemsOf(base, { ...live, callbackUrl: 'http://pay.example' })[0]).toMatch(/^CALLBACK_URL: /);
		for (const host of ['mpesa.example', 'query.example', 'cmd.example', 'm-pesa.example']) {
			expect(problemsOf(base, { ...live, callbackUrl: `https://${host}` })[0]).toMatch(
				/^CALLBACK_URL: must not contain/
			);
		}
	});
});
