/** Payments by Airtel Money: what is sent, what a status read says, tokens and message signing. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { airtelProtocol } from '../../../simulators/airtel.ts';
import {
	adapter,
	adapterWith,
	attempt,
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
	useOperator
} from '../../../support/billing/adapter.ts';
import { AIRTEL } from '../../../support/billing/tested-operators.ts';

useOperator(AIRTEL);

const countOf = (path: string) => requestsTo(path).length;
const PUSH = '/merchant/v1/payments/';

const raw = (body: string) => ({
	method: 'POST',
	path: '/',
	authority: 'x',
	headers: {},
	bytes: Buffer.from(body),
	body
});

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

	it('stays pending until Airtel reports a final state', async () => {
		for (const otherForm of [false, true]) {
			const { status } = await settled({ outcome: 'pending', otherForm });
			expect(status).toMatchObject({
				kind: 'pending',
				raw: expect.stringContaining(otherForm ? 'TA' : 'TIP')
			});
		}
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
