/** Status reads and callbacks of a push, against the simulated Daraja. */
import { describe, expect, it } from 'vitest';
import {
	adapter,
	attempt,
	callbackOf,
	claimAt,
	configure,
	pushed,
	request,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MPESA } from '../../../support/billing/tested-operators.ts';

useOperator(MPESA);

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

	it('finds a push with a lost answer by its callback, and not before', async () => {
		simulator.script({}, { submit: 'drop_after' });
		const asked = request();
		expect((await adapter.submit(asked)).kind).toBe('uncertain');
		const before = simulator.requests.length;
		expect(await adapter.readStatus(attempt(asked))).toMatchObject({ kind: 'unreadable' });
		expect(simulator.requests).toHaveLength(before);
		simulator.advance(1_000);
		const claim = await claimAt(asked.callbackUrl);
		expect(claim.operatorReference).toBe(simulator.books.payments[0]?.operatorReference);
		expect(await adapter.readStatus(attempt(asked, { claim }))).toMatchObject({
			kind: 'succeeded',
			amountMinor: 2_500
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

	it('returns the amount of the callback, right or wrong', async () => {
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
		'',
		'<oops',
		'[]',
		'null',
		'7',
		'{"Body":null}',
		'{"Body":{"stkCallback":[]}}',
		'{"Body":{"stkCallback":{"ResultCode":{}}}}',
		'{"Result":"x"}'
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
