/** Airtel Money: payments, answers, callbacks, refunds and settings. */
import { generateKeyPairSync, randomUUID, createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { airtelProtocol, type AirtelPortal } from '../../simulators/airtel.ts';
import {
	adapter,
	adapterWith,
	attempt,
	callbackOf,
	configure,
	settled,
	read,
	receiver,
	refundOf,
	request,
	requestsTo,
	sentTo,
	simulator,
	start,
	useOperator,
	configured,
	pushed,
	readingOf,
	problemsOf
} from '../../support/billing/adapter.ts';
import { AIRTEL } from '../../support/billing/tested-operators.ts';
import { formatId } from '#lib/server/billing/operators/airtel.ts';
import type { CallbackScript, Script } from '../../simulators/script.ts';
import type { StatusOutcome } from '#lib/server/billing/operators/operator.ts';

useOperator(AIRTEL);

const countOf = (path: string) => requestsTo(path).length;
const PUSH = '/merchant/v1/payments/';

const raw = (body: string) => callbackOf('http://a.example/', body);

describe('a payment', () => {
	it('is sent once, in the form of Airtel, and its state is read by our id', async () => {
		const { reference, submitted, status } = await settled();
		expect(submitted).toMatchObject({ kind: 'accepted', operatorReference: reference });
		expect(sentTo(PUSH)).toEqual([
			{
				reference: `Wi-Fi 1 hour ${reference.slice(0, 8)}`,
				subscriber: { country: 'UG', currency: 'UGX', msisdn: '700000001' },
				transaction: { amount: 1000, country: 'UG', currency: 'UGX', id: reference }
			}
		]);
		expect(status).toMatchObject({ kind: 'succeeded', amountMinor: null, currency: null });
		expect(status.kind === 'succeeded' && status.providerReference).toMatch(/^MP\d{6}\.\d{4}\.L\d{5}$/);
		expect(simulator.ledger()).toMatchObject({ debited: 1_000, payments: 1 });
	});

	it.each([
		['payer_rejected', 'DP00800001002'],
		['payer_limit_reached', 'DP00800001003'],
		['merchant_error', 'DP00800001004'],
		['payer_timeout', 'DP00800001005 DP00800001024 DP00800001029 TE'],
		['insufficient_funds', 'DP00800001007'],
		['payer_rejected', 'DP00800001008'],
		['provider_error', 'DP00800001009 TF']
	])('failed because of %s with %s', async (reason, outcomes) => {
		for (const outcome of outcomes.split(' ')) {
			const { status } = await settled({ outcome });
			expect(status, outcome).toMatchObject({ kind: 'failed', reason });
		}
	});

	it('depends only on its state, not on the codes beside it', async () => {
		for (const otherForm of [false, true]) {
			const { status } = await settled({ otherForm });
			expect(status.kind).toBe('succeeded');
			expect('raw' in status && status.raw).toContain(otherForm ? 'DP00800001001' : '"success":false');
		}
	});

	it('carries amounts in major units, as numbers', async () => {
		await simulator.stop();
		await start(airtelProtocol({ country: 'ZM', currency: 'ZMW' }), { currency: 'ZMW' });
		configure({}, { currency: 'ZMW' });
		await adapter.submit(request({ amountMinor: 1_050, currency: 'ZMW', payerPhone: '+260971234567' }));
		await adapter.submit(request({ amountMinor: 1_000, currency: 'ZMW', payerPhone: '+260971234567' }));
		expect(sentTo(PUSH)).toMatchObject([
			{ transaction: { amount: 10.5 }, subscriber: { msisdn: '971234567', country: 'ZM' } },
			{ transaction: { amount: 10 } }
		]);
		expect(simulator.ledger().payments + simulator.books.payments.length).toBeGreaterThan(1);
	});

	it('has a text of plain characters, at most 25 long, that differs from the next one', async () => {
		const description = "Wi-Fi d'été / 10 jours & nuits 😀 chez nous";
		await adapter.submit(request({ description }));
		await adapter.submit(request({ description }));
		const texts = sentTo(PUSH).map((body) => (body as { reference: string }).reference);
		for (const text of texts) expect(text).toMatch(/^Wi-Fi dete 10 j[a-z]* [0-9a-f]{8}$/);
		expect(Math.max(...texts.map((text) => text.length))).toBeLessThanOrEqual(25);
		expect(new Set(texts).size).toBe(2);
	});

	it('uses the path, number format and id format of the market', async () => {
		await simulator.stop();
		await start(airtelProtocol({ leading_zero: 'on', short_ids: 'on' }));
		configure({ AIRTEL_API_VERSION: 'v2' });
		const { reference, submitted, status } = await settled();
		expect(status.kind).toBe('succeeded');
		const [body] = sentTo('/merchant/v2/payments/') as [{ transaction: { id: string }; subscriber: unknown }];
		expect(body.subscriber).toMatchObject({ msisdn: '0700000001' });
		expect(body.transaction.id).toMatch(/^[0-9a-z]{25}$/);
		expect(submitted).toMatchObject({ operatorReference: body.transaction.id });
		const callback = JSON.stringify({
			transaction: { id: body.transaction.id.toUpperCase(), status_code: 'TS' }
		});
		expect(await adapter.parseCallback(raw(callback))).toMatchObject({
			reference,
			operatorReference: body.transaction.id
		});
	});

	it('is found by the id that it was sent with, also after the format was changed', async () => {
		const { reference, submitted } = await settled();
		const id = submitted.kind === 'accepted' ? submitted.operatorReference : null;
		const changed = adapterWith({ AIRTEL_ID_FORMAT: 'short' });
		expect((await changed.readStatus(attempt(request({ reference }), { operatorReference: id }))).kind).toBe(
			'succeeded'
		);
	});
});

describe('a status read', () => {
	it('of an unknown id is not_found in both forms, and nothing else is', async () => {
		for (const otherForm of [false, true]) {
			const { status } = await settled({ notFoundReads: 1, otherForm });
			expect(status.kind).toBe('not_found');
		}
		expect((await read(randomUUID())).kind).toBe('not_found');
	});
});

describe('the token', () => {
	const TOKEN = '/auth/oauth2/token';

	it.each(['text', 'number'] as const)('lives as long as Airtel says, as a %s: 180 seconds', async (form) => {
		simulator.portal({ expires_in: form });
		await adapter.submit(request());
		simulator.advance(120_000);
		await adapter.submit(request());
		expect(countOf(TOKEN)).toBe(1);
		simulator.advance(40_000);
		expect((await adapter.submit(request())).kind).toBe('accepted');
		expect(countOf(TOKEN)).toBe(2);
	});
});

describe('message signing', () => {
	beforeEach(() => {
		simulator.portal({ message_signing: 'on' });
		configure();
	});
	const KEYS = '/v1/rsa/encryption-keys';

	it('signs payments and refunds with a key that is requested once', async () => {
		const { reference, status } = await settled();
		await adapter.submit(request());
		expect(countOf(KEYS)).toBe(1);
		const providerReference = status.kind === 'succeeded' ? status.providerReference : null;
		const refund = refundOf(request({ reference }), { providerReference });
		expect((await adapter.refund?.(refund))?.kind).toBe('accepted');
	});

	it('that is missing refuses the payment for good', async () => {
		const outcome = await adapterWith({ AIRTEL_MESSAGE_SIGNING: 'off' }).submit(request());
		expect(outcome).toMatchObject({ kind: 'refused', reason: 'merchant_error', retryable: false });
	});

	it('with a key that has been replaced is sent once more, with the new one', async () => {
		const json = (body: unknown, status = 200) => ({ status, body: JSON.stringify(body) });
		const mismatch = json({ status: { response_code: 'DP00800001026', code: '403', success: false } }, 403);
		const good = json({ status: { result_code: 'ESB000010', success: true } });
		const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
		const key = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
		receiver.reply('/auth/oauth2/token', json({ access_token: 'fake', expires_in: '180' }));
		receiver.reply(KEYS, json({ data: { key } }));
		receiver.reply(PUSH, (_received, index) => (index === 1 || index > 2 ? mismatch : good));
		configure({ AIRTEL_BASE_URL: receiver.url });
		expect((await adapter.submit(request())).kind).toBe('accepted');
		expect(receiver.at(KEYS)).toHaveLength(1);
		expect((await adapter.submit(request())).kind).toBe('accepted');
		expect(receiver.at(KEYS)).toHaveLength(2);
		expect(await adapter.submit(request())).toMatchObject({ kind: 'refused', retryable: false });
		expect(receiver.at(PUSH)).toHaveLength(5);
		receiver.reply(KEYS, json({ data: { key: 'bm8ga2V5' } }));
		expect(await adapter.submit(request())).toMatchObject({
			kind: 'refused',
			reason: 'provider_unavailable'
		});
		receiver.reply(KEYS, json({ data: { key } }));
		receiver.reply(PUSH, { ...mismatch, status: 500 });
		expect((await adapter.submit(request())).kind).toBe('uncertain');
		expect(receiver.at(PUSH)).toHaveLength(6);
	});
});

/** Codes of Airtel Money, and answers that it does not document. */
describe('answers', () => {
	describe('an answer to a payment', () => {
		it.each(['ROUTER117', 'ESB000001', 'ESB000004', '0000900', 'DP00800001000'])(
			'%s is uncertain: the payment may be queued',
			async (submitCode) => {
				const { submitted, status } = await settled({ submit: 'error_after', submitCode });
				expect([submitted.kind, status.kind]).toEqual(['uncertain', 'succeeded']);
				expect(requestsTo(PUSH)).toHaveLength(1);
			}
		);

		it.each([
			['ROUTER003', 'merchant_error'],
			['ESB000008', 'merchant_error'],
			['ESB000033', 'payer_not_found'],
			['ESB000036', 'payer_not_found'],
			['DP00800001026', 'merchant_error']
		] as const)('%s refuses it, in both forms: nothing was queued', async (submitCode, reason) => {
			for (const otherForm of [false, true]) {
				const { submitted } = await settled({ submit: 'refuse', submitCode, otherForm });
				expect(submitted).toMatchObject({ kind: 'refused', reason, retryable: false });
			}
		});
	});

	describe('answers that Airtel does not document', () => {
		beforeEach(() => {
			answers('/auth/oauth2/token', 200, { access_token: 'fake', expires_in: '180' });
			configure({ AIRTEL_BASE_URL: receiver.url });
		});

		const answers = (path: string, status: number, body: unknown) =>
			receiver.reply(path, {
				status,
				headers: { 'content-type': 'application/json' },
				body: typeof body === 'string' ? body : JSON.stringify(body)
			});

		it.each([
			[404, 'no Route matched', 'refused'],
			[403, '<html>', 'refused'],
			[400, { status: { response_code: 'DP00800001006' } }, 'uncertain'],
			[408, '', 'uncertain'],
			[502, '<html>', 'uncertain'],
			[301, '', 'uncertain'],
			[200, 'null', 'uncertain'],
			[200, { status: { success: true } }, 'uncertain'],
			[
				200,
				{ data: { transaction: { status: 'FAILED' } }, status: { result_code: 'ESB000010' } },
				'uncertain'
			],
			[200, { status: { response_code: 'DP00800001006', success: 'true' } }, 'accepted']
		])('to a payment: %s %j is %s', async (status, body, kind) => {
			answers(PUSH, status, body);
			expect((await adapter.submit(request())).kind).toBe(kind);
		});

		it.each([
			['DP00800001002', 'Invalid PIN length', 'payer_rejected'],
			['DP00800001003', 'Exceeds withdrawal amount limit(s)', 'payer_limit_reached'],
			['DP00800001005', 'Msisdn Not Found', 'payer_not_found'],
			['DP00800001007', 'Not enough balance', 'insufficient_funds'],
			['DP00800001008', 'Transaction Refused', 'payer_rejected'],
			['DP00800001010', 'Transaction not permitted to Payee', 'merchant_error'],
			['DP00800001029', 'Transaction Expired', 'payer_timeout'],
			['ESB000008', 'Field validation', 'merchant_error'],
			['ESB000011', 'Failed', 'merchant_error'],
			['200', 'Insufficient funds', 'insufficient_funds']
		])('a refusal with HTTP 200 (%s, %s) is final, in each form', async (code, message, reason) => {
			for (const status of [
				{ response_code: code, result_code: 'ESB000010', code: '200', message, success: false },
				{ response_code: ` ${code.toLowerCase()} `, message, success: 'false' },
				{ result_code: code, message }
			]) {
				for (const transaction of [undefined, { id: false, status: 'FAILED', message }, { status: 'TF' }]) {
					answers(PUSH, 200, { data: { transaction }, status });
					expect(await adapter.submit(request())).toMatchObject({
						kind: 'refused',
						reason,
						retryable: false
					});
				}
			}
		});

		it.each([
			{ response_code: 'DP00800001000', message: 'Ambiguous', success: false },
			{ response_code: 'DP00800001001', message: 'Success', success: false },
			{ response_code: 'DP00800001006', message: 'In process', success: false },
			{ response_code: 'DP00800001024', message: 'Timed out', success: false },
			{ response_code: 'DP00800001025', message: 'Not found', success: false },
			{ response_code: 'DP00800001007', result_code: 'ESB000001', success: false },
			{ response_code: 'DP00800001007', success: true },
			{ result_code: 'ESB000041', message: 'Duplicate external id', success: false },
			{ result_code: 'ROUTER117', message: 'Timed out', success: false },
			{ code: '200', message: 'Transaction timed out', success: false },
			{ code: '200', message: 'Sent by KAMPALA WIFI LIMITED', success: false },
			{ code: '200', success: false }
		])('with HTTP 200, %j decides nothing', async (status) => {
			answers(PUSH, 200, { data: {}, status });
			expect((await adapter.submit(request())).kind).toBe('uncertain');
		});

		it.each([401, 403])('HTTP %s to a payment is about us, not about the payer', async (status) => {
			answers(PUSH, status, { status: { message: 'Token expired', code: String(status) } });
			expect(await adapter.submit(request())).toMatchObject({
				kind: 'refused',
				reason: 'merchant_error',
				retryable: false
			});
			expect(receiver.at(PUSH)).toHaveLength(status === 401 ? 2 : 1);
		});

		it.each([
			[{ status: 'ts ', airtel_money_id: 'C1' }, 'succeeded'],
			[{ status: 'TS', id: false }, 'succeeded'],
			[{ status: 'TS', id: 'another' }, 'unavailable'],
			[{ status: 'TF', message: 'Insufficient funds' }, 'failed'],
			[{ status: 'TI' }, 'pending'],
			[{ status: 'SUCCESS' }, 'unavailable'],
			[{ status: 'TR' }, 'unavailable'],
			[{ status: 7 }, 'unavailable'],
			[{}, 'unavailable'],
			[null, 'unavailable']
		])('to a status read: %j is %s', async (transaction, kind) => {
			const reference = randomUUID();
			const codes = { code: '200', result_code: 'ESB000010', response_code: 'DP00800001001', success: true };
			answers(`/standard/v1/payments/${reference}`, 200, { data: { transaction }, status: codes });
			expect((await read(reference)).kind).toBe(kind);
		});

		it.each([401, 404, 500])('HTTP %s to a status read says nothing', async (status) => {
			const reference = randomUUID();
			answers(`/standard/v1/payments/${reference}`, status, {
				data: { transaction: { status: 'TF' } },
				status: { result_code: status === 500 ? 'ESB000045' : 'ESB000011' }
			});
			expect((await read(reference)).kind).toBe('unavailable');
		});

		it('messages of a market win over codes that it uses differently', async () => {
			const reference = randomUUID();
			answers(`/standard/v1/payments/${reference}`, 200, {
				data: { transaction: { status: 'TF', message: 'Not enough balance' } },
				status: { response_code: 'DP00800001005' }
			});
			expect(await read(reference)).toMatchObject({ reason: 'insufficient_funds' });
		});
	});
});

/** Callbacks of Airtel Money, and its two forms of our reference. */
describe('callbacks', () => {
	describe('a callback', () => {
		beforeEach(() => simulator.portal({ callback_url: `${receiver.url}/callback` }));

		/** The body of a callback. */
		async function received(script: Partial<Script>, how: Partial<CallbackScript> = {}): Promise<string> {
			const { asked } = await pushed({ callbacks: [], ...script });
			simulator.advance(30_000);
			const payment = simulator.books.byReference(asked.reference);
			if (!payment) throw new Error('no payment');
			expect(await simulator.callBack(payment, how)).toBe(200);
			return receiver.at('/callback').at(-1)?.raw ?? '';
		}

		it.each([
			['success', 'succeeded'],
			['DP00800001007', 'failed'],
			['TE', 'failed'],
			['pending', 'pending'],
			['TA', 'pending']
		])('of %s claims %s, about our reference', async (outcome, claimed) => {
			const hint = await adapter.parseCallback(raw(await received({ outcome })));
			const reference = simulator.books.payments.at(-1)?.reference;
			expect(hint).toMatchObject({ claimed, authentic: 'verified', reference, operatorReference: reference });
			const moneyId = outcome === 'success' ? simulator.books.payments.at(-1)?.operatorReference : null;
			expect(hint.providerReference).toBe(moneyId);
		});

		const variants = ['transaction-bytes', 'transaction-json', 'body'] as const;
		it.each(variants)('with a hash over %s is authentic', async (variant) => {
			simulator.portal({ callback_authentication: variant } satisfies Partial<AirtelPortal>);
			for (const otherForm of [false, true]) {
				const body = await received({ otherForm });
				expect((await adapter.parseCallback(raw(body))).authentic).toBe('verified');
			}
		});

		it('with braces in its message is authentic', async () => {
			const transaction = '{"id": "x", "message": "Paid {UGX 500} \\"now\\"", "status_code": "TS"}';
			const key = simulator.environment['AIRTEL_CALLBACK_KEY'] ?? '';
			const hash = createHmac('sha256', key).update(transaction).digest('base64');
			const body = JSON.stringify({ hash }).replace('}', `,"transaction":${transaction}}`);
			expect((await adapter.parseCallback(raw(body))).authentic).toBe('verified');
		});

		it('with a wrong hash or none is not authentic; without a key nothing has to be proven', async () => {
			for (const alter of ['bad_signature', 'no_signature', 'forged_success'] as const) {
				const body = await received({}, { alter });
				expect((await adapter.parseCallback(raw(body))).authentic, alter).toBe('invalid');
				const open = await adapterWith({ AIRTEL_CALLBACK_KEY: '' }).parseCallback(raw(body));
				expect(open).toMatchObject({ authentic: 'absent', claimed: 'succeeded' });
			}
		});

		it('is signed with its content: a changed or duplicated field is not authentic', async () => {
			const body = await received({ outcome: 'DP00800001007' });
			const changed = body.replace('"TF"', '"TS"');
			const doubled = `{"transaction":{"id":"x","status_code":"TS"},${body.slice(1)}`;
			const later = `${body.slice(0, -1)},"transaction":{"id":"x","status_code":"TS"}}`;
			for (const forged of [changed, doubled, later]) {
				expect(forged).not.toBe(body);
				expect((await adapter.parseCallback(raw(forged))).authentic).toBe('invalid');
			}
		});

		it.each([
			'',
			'<oops',
			'[]',
			'{}',
			'{"transaction":[]}',
			'{"transaction":null,"hash":null}',
			'{"transaction":{"id":{},"status_code":[]},"hash":{}}',
			'{"transaction":"x","hash":"x"}',
			'{"hash":"x"}',
			`{"transaction":${'['.repeat(30_000)}${']'.repeat(30_000)},"hash":"x"}`,
			`{"hash":"${'x'.repeat(60_000)}","transaction":"${'\\\\'.repeat(1_000)}"}`
		])('of any other form is unknown and throws nothing: %.60s', async (body) => {
			expect(await adapter.parseCallback(raw(body))).toMatchObject({
				claimed: 'unknown',
				authentic: 'invalid',
				reference: null
			});
		});
	});

	describe('the short form of an id', () => {
		it('has 25 letters and digits for every reference, and converts back to it', async () => {
			const { referenceStart } = configured().operators[0]?.statement ?? {};
			const references = [
				'00000000-0000-4000-8000-000000000000',
				'ffffffff-ffff-4fff-bfff-ffffffffffff',
				...Array.from({ length: 200 }, () => randomUUID())
			];
			for (const reference of references) {
				const id = formatId(reference, 'short');
				expect(id).toMatch(/^[0-9a-z]{25}$/);
				const hint = await adapter.parseCallback(raw(JSON.stringify({ transaction: { id } })));
				expect(hint.reference).toBe(reference);
				// Also in the list of settled payments, where the case may differ.
				expect(referenceStart?.(id.toUpperCase())).toBe(reference);
			}
			expect(referenceStart?.('BBZMiscxy')).toBeNull();
		});

		it('of another system converts to nothing', async () => {
			for (const id of [
				'',
				'BBZMiscxy',
				'zzzzzzzzzzzzzzzzzzzzzzzzz',
				'0'.repeat(25),
				'../../etc',
				12,
				null,
				{}
			]) {
				const hint = await adapter.parseCallback(raw(JSON.stringify({ transaction: { id } })));
				expect(hint).toMatchObject({ reference: null, operatorReference: null });
			}
		});
	});
});

/** Refunds by Airtel Money, whose result nobody can read later. */
describe('refunds', () => {
	/** A refund of a payment that was read as paid. */
	const owed = (reference: string, status: StatusOutcome | null) =>
		refundOf(request({ reference }), {
			providerReference: status?.kind === 'succeeded' ? status.providerReference : null
		});

	describe('a refund', () => {
		const REFUND = '/standard/v1/payments/refund';
		it.each([
			['v1', REFUND],
			['v2', '/standard/v2/payments/refund']
		])('uses the airtel_money_id, goes to %s, and ends with SUCCESS', async (version, path) => {
			configure({ AIRTEL_REFUND_VERSION: version });
			const { reference, status } = await settled();
			const refund = owed(reference, status);
			const outcome = await adapter.refund?.(refund);
			expect(outcome).toMatchObject({ kind: 'accepted', operatorReference: expect.stringMatching(/^CI/) });
			expect(sentTo(path)).toEqual([{ transaction: { airtel_money_id: refund.payment.providerReference } }]);
			const said = outcome?.kind === 'accepted' ? outcome.operatorReference : null;
			expect(await adapter.readRefund?.(readingOf(refund, said))).toMatchObject({
				kind: 'succeeded',
				providerReference: said
			});
			expect(simulator.ledger()).toMatchObject({ debited: 1_000, refunded: 1_000, refunds: 1 });
		});

		it('finds the airtel_money_id itself if the payment has none stored', async () => {
			const { reference } = await settled();
			expect((await adapter.refund?.(owed(reference, null)))?.kind).toBe('accepted');
		});

		it('with a lost answer needs a person: its result cannot be read', async () => {
			for (const submit of ['drop_after', 'error_after'] as const) {
				const { reference, status } = await settled({ refund: { submit } });
				const refund = owed(reference, status);
				expect((await adapter.refund?.(refund))?.kind, submit).toBe('uncertain');
				const read = await adapter.readRefund?.(readingOf(refund, null));
				expect(read).toMatchObject({
					kind: 'unreadable',
					cause: expect.stringMatching(/ the payment succeeded$/),
					raw: expect.stringContaining('"TS"')
				});
			}
			expect(adapter.capabilities.resubmitSameReferenceSafe).toBe(false);
			simulator.outage('error');
			expect((await adapter.readRefund?.(readingOf(owed(randomUUID(), null), null)))?.kind).toBe(
				'unavailable'
			);
		});

		it('is not sent for a payment that Airtel does not call paid', async () => {
			const failed = await settled({ outcome: 'DP00800001007' });
			expect(await adapter.refund?.(owed(failed.reference, null))).toMatchObject({
				kind: 'refused',
				retryable: false
			});
			const pending = await settled({ outcome: 'pending' });
			expect(await adapter.refund?.(owed(pending.reference, null))).toMatchObject({
				kind: 'refused',
				retryable: true
			});
			expect(await adapter.refund?.(owed(randomUUID(), null))).toMatchObject({ retryable: false });
			const paid = await settled();
			const wrong = owed(paid.reference, { ...paid.status, providerReference: 'MP1' } as StatusOutcome);
			expect(await adapter.refund?.(wrong)).toMatchObject({ kind: 'refused', retryable: false });
			expect(requestsTo(REFUND)).toEqual([]);
		});

		it('is not sent while Airtel is unavailable, and is made only once', async () => {
			const { reference, status } = await settled();
			const refund = owed(reference, status);
			simulator.outage('error');
			expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: true });
			simulator.outage(null);
			expect((await adapter.refund?.(refund))?.kind).toBe('accepted');
			expect(await adapter.refund?.(refund)).toMatchObject({ kind: 'refused', retryable: false });
			expect(simulator.ledger().refunds).toBe(1);
		});
	});
});

/** Settings of Airtel Money. */
describe('the settings', () => {
	it('fit the installation: currency, live mode, and no real money in a sandbox', () => {
		expect(problemsOf({})).toEqual([]);
		expect(problemsOf({ AIRTEL_CURRENCY: 'ZMW' })).toEqual([
			expect.stringMatching(/^AIRTEL_CURRENCY: .*UGX/)
		]);
		expect(problemsOf({ AIRTEL_MIN_AMOUNT: '10', AIRTEL_MAX_AMOUNT: '9' })).toEqual([
			expect.stringMatching(/^AIRTEL_MIN_AMOUNT: /)
		]);
		const real = { AIRTEL_BASE_URL: 'https://openapi.airtel.ug' };
		const test = { AIRTEL_BASE_URL: 'https://openapiuat.airtel.africa/' };
		const live = { mode: 'live', callbackUrl: 'https://till.example' } as const;
		expect(problemsOf(test)).toEqual([]);
		expect(problemsOf(real)).toEqual([expect.stringMatching(/^AIRTEL_BASE_URL: .*real money/)]);
		expect(problemsOf(real, live)).toEqual([]);
		expect(problemsOf(test, live)).toEqual([expect.stringMatching(/^AIRTEL_BASE_URL: .*test system/)]);
		expect(problemsOf({}, live)).toEqual([expect.stringMatching(/^AIRTEL_BASE_URL: .*https/)]);
		expect(problemsOf(real, { ...live, callbackUrl: 'http://till.example' })).toEqual([
			expect.stringMatching(/^CALLBACK_URL: .*https/)
		]);
	});

	it('define the supported amounts and numbers', () => {
		configure({ AIRTEL_MIN_AMOUNT: '500', AIRTEL_MAX_AMOUNT: '1000' });
		expect(adapter.amounts('airtel_money')).toEqual({ stepMinor: 1, minMinor: 500, maxMinor: 1_000 });
		expect(adapter.currency).toBe('UGX');
		expect(adapter.takesNumber('+256700000001')).toBe(true);
		expect(adapter.takesNumber('+254700000001')).toBe(false);
		const zambian = { AIRTEL_COUNTRY: 'ZM', AIRTEL_CURRENCY: 'ZMW' };
		expect(adapterWith(zambian, { currency: 'ZMW' }).amounts('airtel_money')).toMatchObject({
			stepMinor: 1,
			minMinor: 1
		});
		const whole = adapterWith(
			{ ...zambian, AIRTEL_DECIMALS: '0', AIRTEL_MIN_AMOUNT: '2.5' },
			{ currency: 'ZMW' }
		);
		expect(whole.amounts('airtel_money')).toMatchObject({ stepMinor: 100, minMinor: 250 });
	});

	it('are verified by a health check that moves no money and names the problem', async () => {
		expect(await adapter.health()).toBeNull();
		const wrong = await adapterWith({ AIRTEL_CLIENT_ID: 'wrong' }).health();
		expect(wrong).toContain('AIRTEL_CLIENT_ID');
		const elsewhere = await adapterWith({ AIRTEL_BASE_URL: `${simulator.url}/elsewhere` }).health();
		expect(elsewhere).toMatch(/elsewhere gives no token: HTTP 404/);
		const nobody = await adapterWith({ AIRTEL_BASE_URL: 'http://127.0.0.1:9' }).health();
		expect(nobody).toContain('gives no token: network');
		expect(await adapterWith({ AIRTEL_MESSAGE_SIGNING: 'on' }).health()).toBeNull();
		expect(simulator.requests.every(({ path }) => /token$|elsewhere|keys$/.test(path))).toBe(true);
	});
});
