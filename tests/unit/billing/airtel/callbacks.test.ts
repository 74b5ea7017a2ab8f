/** Callbacks of Airtel Money, and its two forms of our reference. */
import { createHmac, randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { formatId } from '#lib/server/billing/operators/airtel.ts';
import type { AirtelPortal } from '../../../simulators/airtel.ts';
import type { CallbackScript, Script } from '../../../simulators/script.ts';
import {
	adapter,
	adapterWith,
	configured,
	pushed,
	receiver,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { AIRTEL } from '../../../support/billing/tested-operators.ts';

useOperator(AIRTEL);

const raw = (body: string) => ({
	method: 'POST',
	path: '/',
	authority: 'x',
	headers: {},
	bytes: Buffer.from(body),
	body
});

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
