/** Callbacks of pawaPay, and their signatures. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { OperatorAdapter, RawCallback } from '../../../../src/lib/server/billing/operators/operator.ts';
import type { Script } from '../../../simulators/script.ts';
import type { Received } from '../../../support/api/receiver.ts';
import { receiver, refundOf, request, simulator, useOperator } from '../../../support/billing/adapter.ts';
import { adapterFor, CALLBACKS } from '../../../support/billing/pawapay.ts';
import { PAWAPAY } from '../../../support/billing/tested-operators.ts';

useOperator(PAWAPAY);

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
	async function called(adapter: OperatorAdapter, script: Partial<Script> = {}) {
		simulator.script({}, script);
		const payment = request();
		await adapter.submit(payment);
		simulator.advance(2_000);
		const [callback] = await received();
		if (!callback) throw new Error('no callback');
		return { payment, callback };
	}

	const verifying = () => {
		simulator.portal({ signed_callbacks: 'on' });
		return adapterFor({ PAWAPAY_VERIFY_CALLBACKS: 'on' });
	};

	it('names the payment and what it claims', async () => {
		const adapter = adapterFor();
		const { payment, callback } = await called(adapter);
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

	it('of a failure claims it', async () => {
		const adapter = adapterFor();
		const { callback } = await called(adapter, { outcome: 'INSUFFICIENT_BALANCE' });
		expect(await adapter.parseCallback(callback)).toMatchObject({ claimed: 'failed' });
	});

	it('of a refund names the refund', async () => {
		const adapter = adapterFor();
		const { payment } = await called(adapter);
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
			const callback = {
				method: 'POST',
				path: CALLBACKS,
				authority: 'x',
				headers: {},
				bytes: Buffer.from(body),
				body
			};
			expect(await adapterFor().parseCallback(callback)).toMatchObject({ claimed: 'unknown' });
			expect(await verifying().parseCallback(callback)).toMatchObject({ authentic: 'invalid' });
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
		const callback = {
			method: 'POST',
			path: '/',
			authority: 'x',
			headers: {},
			bytes: Buffer.from(body),
			body
		};
		expect(await adapterFor().parseCallback(callback)).toMatchObject({
			claimed: 'succeeded',
			amountMinor: 15
		});
	});

	it.each([false, true])('that pawaPay signed is verified, in both forms (%s)', async (otherForm) => {
		const adapter = verifying();
		const { callback } = await called(adapter, { otherForm });
		expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'verified' });
	});

	it('asks for the keys once, however many come at the same time', async () => {
		const { callback } = await called(verifying());
		const adapter = adapterFor({ PAWAPAY_VERIFY_CALLBACKS: 'on' });
		const hints = await Promise.all(Array.from({ length: 20 }, () => adapter.parseCallback(callback)));
		expect(new Set(hints.map(({ authentic }) => authentic))).toEqual(new Set(['verified']));
		expect(simulator.requests.filter(({ path }) => path === '/v2/public-key/http')).toHaveLength(1);
	});

	it.each(['bad_signature', 'no_signature', 'forged_success', 'garbage'] as const)(
		'that is altered (%s) is invalid',
		async (alter) => {
			const adapter = verifying();
			const callbacks = [{ when: 'at_outcome', afterMs: 0, times: 1, alter } as const];
			const { callback } = await called(adapter, { callbacks });
			expect(await adapter.parseCallback(callback)).toMatchObject({ authentic: 'invalid' });
		}
	);

	it('is invalid when anything that was signed differs, and when it has expired', async () => {
		const adapter = verifying();
		const { callback } = await called(adapter);
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
		const adapter = adapterFor(
			{ PAWAPAY_VERIFY_CALLBACKS: 'on' },
			{ callbackUrl: `${receiver.url}/airtill` }
		);
		await adapter.submit(request());
		simulator.advance(2_000);
		const path = `/airtill${CALLBACKS}`;
		await expect.poll(() => receiver.at(path)).toHaveLength(1);
		const [came] = receiver.at(path).map(raw);
		if (!came) throw new Error('no callback');
		const inside = { ...came, path: CALLBACKS, authority: '10.0.0.5:3000' };
		expect(await adapter.parseCallback(inside)).toMatchObject({ authentic: 'verified' });
	});

	it('with unknown keys does not make us ask for keys again and again', async () => {
		const adapter = verifying();
		const { callback } = await called(adapter);
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
