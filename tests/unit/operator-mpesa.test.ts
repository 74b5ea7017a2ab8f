/** The adapter of M-Pesa Express against the simulated Daraja. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { randomUUID } from 'node:crypto';
import { createLog } from '../../src/lib/server/log.ts';
import { configureOperators } from '../../src/lib/server/operators/configure.ts';
import { createOperatorHttp, type OperatorHttp } from '../../src/lib/server/operators/http.ts';
import type {
	AttemptReference,
	CallbackClaim,
	OperatorAdapter,
	PaymentRequest,
	RawCallback,
	RefundRequest
} from '../../src/lib/server/operators/operator.ts';
import type { SimulatedPayment } from '../simulators/books.ts';
import { startSimulator, type Simulator } from '../simulators/frame.ts';
import { mpesa } from '../simulators/mpesa.ts';
import type { Script } from '../simulators/script.ts';
import { startReceiver, type Receiver } from '../support/receiver.ts';

const INSTALLATION = { mode: 'sandbox', currency: 'KES', callbackUrl: 'http://127.0.0.1:3000' } as const;
const log = createLog('silent');

let simulator: Simulator;
let receiver: Receiver;
let http: OperatorHttp;
let adapter: OperatorAdapter;

/** The adapter as the settings make it, with the simulator's clock. */
function adapterWith(changes: Record<string, string> = {}): OperatorAdapter {
	const { operators, problems } = configureOperators({ ...simulator.environment, ...changes }, INSTALLATION);
	expect(problems).toEqual([]);
	const [configured] = operators;
	if (!configured) throw new Error('M-Pesa is not configured');
	return configured.create({ ...INSTALLATION, clock: simulator.books, log, http });
}

beforeAll(async () => {
	receiver = await startReceiver();
	http = createOperatorHttp({ timeoutMs: 300 });
});
afterAll(async () => {
	await http.stop();
	await receiver.stop();
});
beforeEach(async () => {
	simulator = await startSimulator(mpesa());
	adapter = adapterWith();
});
afterEach(() => simulator.stop());

function request(changes: Partial<PaymentRequest> = {}): PaymentRequest {
	const reference = changes.reference ?? randomUUID();
	return {
		reference,
		amountMinor: 2_500,
		currency: 'KES',
		payerPhone: '+254708374149',
		description: 'Wi-Fi 1 hour',
		callbackUrl: `${receiver.url}/callbacks/daraja/${reference}/token`,
		expiresAt: simulator.books.now() + 600_000,
		...changes
	};
}

const attempt = (asked: PaymentRequest, changes: Partial<AttemptReference> = {}): AttemptReference => ({
	reference: asked.reference,
	operatorReference: null,
	submittedAt: simulator.books.now(),
	amountMinor: asked.amountMinor,
	currency: asked.currency,
	claim: null,
	...changes
});

/** A push that was accepted, and the reference to ask about it. */
async function pushed(script: Partial<Script> = {}, changes: Partial<PaymentRequest> = {}) {
	simulator.script({}, script);
	const asked = request(changes);
	const outcome = await adapter.submit(asked);
	if (outcome.kind !== 'accepted') throw new Error(`It was ${outcome.kind}: ${outcome.raw}`);
	return { asked, reference: attempt(asked, { operatorReference: outcome.operatorReference }) };
}

const lastSent = (): Record<string, unknown> =>
	JSON.parse(simulator.requests.at(-1)?.body ?? '{}') as Record<string, unknown>;

const callbackOf = (url: string, body: string): RawCallback => ({
	method: 'POST',
	path: new URL(url).pathname + new URL(url).search,
	authority: 'airtill.example',
	headers: { 'content-type': 'application/json' },
	body
});

/** What the receiver got at an address, as the core turns it into a claim. */
async function claimAt(url: string): Promise<CallbackClaim> {
	const at = new URL(url).pathname + new URL(url).search;
	await expect.poll(() => receiver.at(at).length, { timeout: 3_000 }).toBeGreaterThan(0);
	const { claimed, ...hint } = await adapter.parseCallback(
		callbackOf(url, receiver.at(at).at(-1)?.raw ?? '')
	);
	if (claimed !== 'succeeded' && claimed !== 'failed') throw new Error(`It claims ${claimed}`);
	const { operatorReference, providerReference, amountMinor, currency } = hint;
	return { claimed, operatorReference, providerReference, amountMinor, currency };
}

const only = (): SimulatedPayment => {
	const [payment] = simulator.books.payments;
	if (!payment) throw new Error('There is no payment');
	return payment;
};

describe('a push', () => {
	it('says shortcode, password of the time in Nairobi, whole shillings, number and our address', async () => {
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
		adapter = adapterWith({ MPESA_TILL: '5174379' });
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

	it('is sent once, whatever comes back', async () => {
		for (const submit of ['drop_before', 'drop_after', 'error_after', 'not_json', 'slow'] as const) {
			simulator.script({ times: 1 }, { submit, guards: false });
			await adapter.submit(request());
		}
		const pushes = simulator.requests.filter(({ path }) => path.includes('stkpush'));
		expect(pushes).toHaveLength(5);
	});

	it.each<[what: string, script: Partial<Script>, expected: object, queued: number]>([
		[
			'a connection that breaks before',
			{ submit: 'drop_before' },
			{ kind: 'uncertain', cause: 'network' },
			0
		],
		['a connection that breaks after', { submit: 'drop_after' }, { kind: 'uncertain', cause: 'network' }, 1],
		['an answer that is too slow', { submit: 'slow' }, { kind: 'uncertain', cause: 'timeout' }, 1],
		['an internal error before', { submit: 'error_before' }, { kind: 'uncertain', cause: '5xx' }, 0],
		['an internal error after', { submit: 'error_after' }, { kind: 'uncertain', cause: '5xx' }, 1],
		['a page of a gateway', { submit: 'not_json' }, { kind: 'uncertain', cause: 'unparsable' }, 1],
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
			'a path that is gone',
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
			'a code nobody knows',
			{ submit: 'refuse', submitCode: '500.009.99 What is this' },
			{ kind: 'uncertain', cause: '5xx' },
			0
		]
	])('that meets %s is %j', async (_what, script, expected, queued) => {
		simulator.script({}, script);
		expect(await adapter.submit(request())).toMatchObject(expected);
		expect(simulator.books.payments).toHaveLength(queued);
	});

	it('without a connection is refused and may go again: nothing was sent', async () => {
		adapter = adapterWith({ MPESA_BASE_URL: 'http://127.0.0.1:9' });
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'provider_busy',
			retryable: true
		});
		adapter = adapterWith({ MPESA_CONSUMER_SECRET: 'wrong' });
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'merchant_error',
			retryable: false
		});
		adapter = adapterWith();
		simulator.outage('refuse');
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', retryable: true });
		expect(simulator.requests.filter(({ path }) => path.includes('stkpush'))).toHaveLength(0);
	});

	it('that finds nobody listening although there is a token is refused too', async () => {
		await adapter.health();
		await simulator.stop();
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'provider_busy',
			retryable: true
		});
		simulator = await startSimulator(mpesa());
	});

	it('keeps no credential in what is stored', async () => {
		const outcomes = [await adapter.submit(request())];
		adapter = adapterWith({ MPESA_CONSUMER_SECRET: 'wrong-secret' });
		outcomes.push(await adapter.submit(request()));
		adapter = adapterWith({ MPESA_PASSKEY: 'wrong-passkey' });
		outcomes.push(await adapter.submit(request({ payerPhone: '+254711000000' })));
		const raw = outcomes.map((outcome) => outcome.raw).join();
		expect(raw).toContain('ws_CO_');
		expect(raw).not.toMatch(/secret|passkey|Bearer|Basic|Password/);
	});
});

describe('the token', () => {
	const made = () => simulator.requests.filter(({ path }) => path.startsWith('/oauth')).length;

	it('is asked for once by twenty payments at the same time', async () => {
		const all = Array.from({ length: 20 }, (_, index) =>
			adapter.submit(request({ payerPhone: `+2547110000${String(index).padStart(2, '0')}` }))
		);
		for (const outcome of await Promise.all(all)) expect(outcome.kind).toBe('accepted');
		expect(made()).toBe(1);
	});

	it('is kept until shortly before its end, whether that is written as a text or a number', async () => {
		for (const written of ['text', 'number']) {
			await simulator.stop();
			simulator = await startSimulator(mpesa({ 'expires-in': written }));
			adapter = adapterWith();
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

	it('that is refused twice ends a push for good and a read for now', async () => {
		const { reference } = await pushed();
		simulator.script({}, { submit: 'refuse', submitCode: '404.001.03', guards: false });
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', reason: 'merchant_error' });
		adapter = adapterWith({ MPESA_CONSUMER_KEY: 'wrong' });
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'unavailable' });
	});
});

describe('a status read', () => {
	it.each([false, true])('is pending while Daraja is processing (other form: %s)', async (otherForm) => {
		const { reference } = await pushed({ outcome: 'pending', otherForm });
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'pending' });
	});

	it('is success when the query says 0, without amount and receipt as long as no callback told them', async () => {
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

	it('finds a push whose answer was lost by what the callback told, and not before', async () => {
		simulator.script({}, { submit: 'drop_after' });
		const asked = request();
		expect((await adapter.submit(asked)).kind).toBe('uncertain');
		const before = simulator.requests.length;
		expect(await adapter.readStatus(attempt(asked))).toMatchObject({ kind: 'unreadable' });
		expect(simulator.requests).toHaveLength(before);
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		expect(claim.operatorReference).toBe(only().operatorReference);
		expect(await adapter.readStatus(attempt(asked, { claim }))).toMatchObject({
			kind: 'succeeded',
			amountMinor: 2_500
		});
	});

	it('finds a push whose answer and callback were lost in the list of settled payments, when allowed', async () => {
		adapter = adapterWith({ MPESA_PULL: 'on' });
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
		adapter = adapterWith({ MPESA_PULL: 'on' });
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
		['1', 'insufficient_funds'],
		['2', 'payer_limit'],
		['3', 'payer_limit'],
		['4', 'payer_limit'],
		['8', 'merchant_error'],
		['17', 'provider_error'],
		['1001', 'provider_busy'],
		['1019', 'payer_timeout'],
		['1025', 'provider_error'],
		['1032', 'payer_declined'],
		['1037', 'payer_timeout'],
		['2001', 'wrong_pin'],
		['2028', 'merchant_error'],
		['8006', 'payer_blocked'],
		['9999', 'provider_error'],
		['SFC_IC0003', 'merchant_error'],
		['777', 'unknown_reason']
	])('of result %s is failed: %s', async (code, reason) => {
		const { asked, reference } = await pushed({ outcome: code });
		simulator.advance(1_000);
		expect(await adapter.readStatus(reference)).toMatchObject({ kind: 'failed', reason });
		const claim = await claimAt(asked.callbackUrl);
		expect(claim.claimed).toBe('failed');
		expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({ kind: 'failed', reason });
	});

	it('that denies a callback with a receipt is a contradiction, never a failure', async () => {
		const { asked, reference } = await pushed({ contradicts: true });
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		const outcome = await adapter.readStatus({ ...reference, claim });
		expect(outcome).toMatchObject({ kind: 'contradiction', message: expect.stringContaining('SKA0000001') });
		const without = { ...claim, providerReference: null };
		expect((await adapter.readStatus({ ...reference, claim: without })).kind).toBe('failed');
	});

	it('goes on pending while a callback, forged or early, tells of success', async () => {
		const { asked, reference } = await pushed({
			outcome: 'pending',
			callbacks: [{ when: 'before_answer', afterMs: 0, times: 1, alter: 'forged_success' }]
		});
		const claim = await claimAt(asked.callbackUrl);
		expect(claim).toMatchObject({ claimed: 'succeeded', providerReference: 'FORGED0001' });
		expect((await adapter.readStatus({ ...reference, claim })).kind).toBe('pending');
	});

	it('tells the amount that a callback told, right or wrong', async () => {
		const { asked, reference } = await pushed({
			callbacks: [{ when: 'at_outcome', afterMs: 0, times: 1, alter: 'wrong_amount' }]
		});
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		expect(await adapter.readStatus({ ...reference, claim })).toMatchObject({
			kind: 'succeeded',
			amountMinor: 2_600
		});
	});

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

	it('that goes wrong in any way says nothing about the payment', async () => {
		const { reference } = await pushed({ notFoundReads: 1, failedReads: 1, outcome: 'pending' });
		expect((await adapter.readStatus(reference)).kind).toBe('unavailable');
		expect((await adapter.readStatus(reference)).kind).toBe('unavailable');
		expect((await adapter.readStatus(reference)).kind).toBe('pending');
		simulator.outage('error');
		expect((await adapter.readStatus(reference)).kind).toBe('unavailable');
		simulator.outage('refuse');
		expect((await adapter.readStatus(reference)).kind).toBe('unavailable');
		simulator.outage(null);
		const stranger = { ...reference, operatorReference: 'ws_CO_0' };
		expect((await adapter.readStatus(stranger)).kind).toBe('unavailable');
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

	it('is read as the operator shows it, with values missing, masked or in another order', async () => {
		const item = (items: object[]) =>
			parse(
				JSON.stringify({
					Body: {
						stkCallback: {
							CheckoutRequestID: 'ws_CO_1',
							ResultCode: 0,
							CallbackMetadata: { Item: items }
						}
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
		'',
		'<oops',
		'[]',
		'null',
		'7',
		'{"Body":null}',
		'{"Body":{"stkCallback":[]}}',
		'{"Body":{"stkCallback":{"ResultCode":{}}}}',
		'{"Result":"x"}'
	])('that is not one is read as nothing: %s', async (body) => {
		expect(await parse(body)).toEqual(NOTHING);
	});

	it('of the queue that gave up is no failure', async () => {
		const body = JSON.stringify({ Result: { ResultCode: 1, ResultDesc: 'timed out' } });
		expect(await parse(body, '/callbacks/daraja/r/t?notice=timeout')).toEqual({
			...NOTHING,
			claimed: 'pending'
		});
	});
});

describe('a refund', () => {
	/** A payment with its receipt, and a refund of it. */
	async function owed(script: Partial<Script> = {}) {
		const { asked, reference } = await pushed(script);
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		const refund = {
			reference: randomUUID(),
			payment: {
				reference: asked.reference,
				operatorReference: reference.operatorReference,
				providerReference: claim.providerReference
			},
			amountMinor: 2_500,
			currency: 'KES',
			payerPhone: asked.payerPhone,
			callbackUrl: `${receiver.url}/callbacks/daraja/refunds/${randomUUID()}`
		};
		const submittedAt = simulator.books.now();
		return { refund, reading: { ...refund, submittedAt, operatorReference: null, claim: null } };
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

	it('whose result was lost is asked about; that answer comes to its address too', async () => {
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

	it('about which the question itself fails is neither failed nor done', async () => {
		const body = JSON.stringify({ Result: { ResultCode: 2001, OriginatorConversationID: 'x' } });
		const hint = await adapter.parseCallback(callbackOf('http://a.example/c?notice=status', body));
		expect(hint.claimed).toBe('unknown');
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

	it('whose answer was lost is found by its result, and cannot be asked about before', async () => {
		const { refund, reading } = await owed({ refund: { submit: 'drop_after' } });
		expect(await send(refund)).toMatchObject({ kind: 'uncertain', cause: 'network' });
		expect(await adapter.readRefund?.({ ...reading, claim: null })).toMatchObject({ kind: 'unreadable' });
		simulator.advance(1_000);
		const claim = await claimAt(refund.callbackUrl);
		expect(await adapter.readRefund?.({ ...reading, claim })).toMatchObject({ kind: 'succeeded' });
	});

	it('without receipt or initiator is refused before anything is sent', async () => {
		const { refund } = await owed();
		const before = simulator.requests.length;
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({
			kind: 'refused',
			reason: 'merchant_error',
			retryable: false
		});
		expect(simulator.requests).toHaveLength(before);
		const without = adapterWith({ MPESA_INITIATOR: '', MPESA_SECURITY_CREDENTIAL: '' });
		expect(without.capabilities.refund).toBe('none');
		expect(without.refund).toBeUndefined();
		expect(without.readRefund).toBeUndefined();
		expect(adapter.capabilities.refund).toBe('full');
	});

	it('without a receipt finds it in the list of settled payments, when allowed', async () => {
		adapter = adapterWith({ MPESA_PULL: 'on' });
		const { refund } = await owed();
		const noReceipt = { ...refund, payment: { ...refund.payment, providerReference: null } };
		expect(await send(noReceipt)).toMatchObject({ kind: 'accepted' });
		expect(lastSent()).toMatchObject({ TransactionID: 'SKA0000001' });
	});

	it('can be made with the password and the certificate instead of the portal’s credential', async () => {
		adapter = adapterWith({
			MPESA_SECURITY_CREDENTIAL: '',
			MPESA_INITIATOR_PASSWORD: simulator.credentials['initiator_password'] ?? '',
			MPESA_CERTIFICATE_FILE: simulator.credentials['certificate_file'] ?? ''
		});
		const { refund } = await owed();
		const outcome = await send(refund);
		expect(outcome.raw).not.toContain('simulated-initiator-password');
		simulator.advance(1_000);
		expect(await claimAt(refund.callbackUrl)).toMatchObject({ claimed: 'succeeded' });
	});
});

describe('the operator', () => {
	it('takes Kenyan mobile numbers', () => {
		for (const phone of ['+254708374149', '+254110000000']) expect(adapter.takesNumber(phone)).toBe(true);
		for (const phone of ['+256772000001', '+25470837414', '+254208374149', '254708374149']) {
			expect(adapter.takesNumber(phone)).toBe(false);
		}
	});

	it.each<[amountMinor: number, currency: string, payerPhone: string, problem: RegExp | null]>([
		[100, 'KES', '+254708374149', null],
		[25_000_000, 'KES', '+254708374149', null],
		[25_000_100, 'KES', '+254708374149', /at most KES 250,000/],
		[150, 'KES', '+254708374149', /whole shillings/],
		[1, 'KES', '+254708374149', /whole shillings/],
		[0, 'KES', '+254708374149', /whole shillings/],
		[1_000, 'UGX', '+254708374149', /Kenyan shillings/],
		[100, 'KES', '+256772000001', /Kenyan mobile numbers/]
	])('asked to carry %i %s from %s', (amountMinor, currency, payerPhone, problem) => {
		const problems = adapter.validate({ amountMinor, currency, payerPhone });
		if (problem === null) expect(problems).toEqual([]);
		else expect(problems.join()).toMatch(problem);
	});

	it('says in words whether it is there, without moving money', async () => {
		expect(await adapter.health()).toEqual({ ok: true, reason: null });
		expect(await adapterWith({ MPESA_CONSUMER_SECRET: 'wrong' }).health()).toMatchObject({
			ok: false,
			reason: expect.stringMatching(/refuses MPESA_CONSUMER_KEY and MPESA_CONSUMER_SECRET/)
		});
		expect(await adapterWith({ MPESA_BASE_URL: 'http://127.0.0.1:9' }).health()).toMatchObject({
			ok: false,
			reason: '127.0.0.1:9 gives no token (network).'
		});
		simulator.outage('error');
		expect((await adapterWith().health()).ok).toBe(false);
		expect(simulator.requests.every(({ path }) => path.startsWith('/oauth'))).toBe(true);
	});
});

describe('the settings', () => {
	const problemsOf = (
		changes: Record<string, string>,
		installation: Parameters<typeof configureOperators>[1] = INSTALLATION
	) => configureOperators({ ...simulator.environment, ...changes }, installation).problems;

	it('are right as the simulator prints them, and none of them need to be there', () => {
		expect(problemsOf({})).toEqual([]);
		expect(configureOperators({}, INSTALLATION)).toEqual({ operators: [], problems: [] });
		const { operators } = configureOperators(simulator.environment, INSTALLATION);
		expect(operators.map(({ id, methods }) => ({ id, methods }))).toEqual([
			{ id: 'daraja', methods: ['mpesa'] }
		]);
		const { referenceStart } = operators[0]?.statement ?? {};
		expect(referenceStart?.('0F8FAD5BD9CB')).toBe('0f8fad5b-d9cb');
		expect(referenceStart?.('Jane, room 4')).toBeNull();
	});

	it.each([
		'MPESA_BASE_URL',
		'MPESA_CONSUMER_KEY',
		'MPESA_CONSUMER_SECRET',
		'MPESA_SHORTCODE',
		'MPESA_PASSKEY'
	])('name %s when it is missing', (name) => {
		expect(problemsOf({ [name]: '' })).toEqual([`${name}: is required for M-Pesa Express (Daraja).`]);
	});

	it.each<[name: string, changes: Record<string, string>]>([
		['MPESA_INITIATOR', { MPESA_INITIATOR: '' }],
		['MPESA_SECURITY_CREDENTIAL', { MPESA_SECURITY_CREDENTIAL: '' }],
		['MPESA_SECURITY_CREDENTIAL', { MPESA_INITIATOR_PASSWORD: 'too' }],
		['MPESA_CERTIFICATE_FILE', { MPESA_SECURITY_CREDENTIAL: '', MPESA_INITIATOR_PASSWORD: 'x' }]
	])('of refunds name %s when only some are set: %j', (name, changes) => {
		const problems = problemsOf(changes);
		expect(problems).toHaveLength(1);
		expect(problems[0]).toMatch(new RegExp(`^${name}: .*\\.$`));
	});

	it('of refunds want the password beside the certificate, which must be one', () => {
		const folder = mkdtempSync(path.join(tmpdir(), 'airtill-mpesa-'));
		const file = path.join(folder, 'cert.cer');
		writeFileSync(file, 'not a certificate');
		const own = { MPESA_SECURITY_CREDENTIAL: '', MPESA_INITIATOR_PASSWORD: '' };
		const good = simulator.credentials['certificate_file'] ?? '';
		expect(problemsOf({ ...own, MPESA_CERTIFICATE_FILE: good })[0]).toMatch(/^MPESA_INITIATOR_PASSWORD: /);
		expect(problemsOf({ ...own, MPESA_CERTIFICATE_FILE: file })[0]).toMatch(/^MPESA_CERTIFICATE_FILE: /);
		rmSync(folder, { recursive: true });
	});

	it('need Kenyan shillings, and a public https address without M-Pesa’s own words in live mode', () => {
		expect(problemsOf({}, { ...INSTALLATION, currency: 'UGX' })).toEqual([
			'CURRENCY: must be KES with M-Pesa.'
		]);
		const live = { mode: 'live', currency: 'KES', callbackUrl: 'https://pay.example' } as const;
		const base = { MPESA_BASE_URL: 'https://api.safaricom.co.ke' };
		expect(problemsOf(base, live)).toEqual([]);
		expect(problemsOf({}, live)).toEqual(['MPESA_BASE_URL: must be https in live mode.']);
		const sandbox = { MPESA_BASE_URL: 'https://sandbox.safaricom.co.ke/' };
		expect(problemsOf(sandbox, live)[0]).toMatch(/^MPESA_BASE_URL: is Daraja's sandbox/);
		expect(problemsOf(base, { ...live, callbackUrl: 'http://pay.example' })[0]).toMatch(/^CALLBACK_URL: /);
		for (const host of ['mpesa.example', 'query.example', 'cmd.example', 'm-pesa.example']) {
			expect(problemsOf(base, { ...live, callbackUrl: `https://${host}` })[0]).toMatch(
				/^CALLBACK_URL: must not contain/
			);
		}
	});
});
