/** Callbacks of MTN MoMo. */
import { describe, expect, it } from 'vitest';
import { mtn } from '../../../simulators/mtn.ts';
import { adapter, pay, simulator, useOperator } from '../../../support/billing/adapter.ts';
import { MTN } from '../../../support/billing/tested-operators.ts';

useOperator(MTN);

describe('callbacks', () => {
	const parse = (body: string) =>
		adapter.parseCallback({
			method: 'POST',
			path: '/',
			authority: 'x',
			headers: {},
			bytes: Buffer.from(body),
			body
		});

	it('are read in their real shape', async () => {
		const { reference } = await pay();
		simulator.advance(1_000);
		const payment = simulator.books.byReference(reference);
		const how = { when: 'at_outcome', afterMs: 0, times: 1 } as const;
		const callback = payment && (await mtn().callback(payment, 'success', how, simulator.books));
		expect(await parse(callback?.body ?? '')).toEqual({
			claimed: 'succeeded',
			authentic: 'absent',
			reference,
			operatorReference: null,
			providerReference: '1700000001',
			amountMinor: 1_500,
			currency: 'UGX'
		});
	});

	it.each([
		['{"status":"FAILED","reason":"EXPIRED"}', 'failed'],
		['{"status":"FAILED","reason":{"code":"PAYER_DELAYED"}}', 'pending'],
		['{"status":"PENDING"}', 'pending'],
		['{"status":"CREATED"}', 'pending'],
		['{"status":"SUCCESSFUL","amount":"x","currency":7,"externalId":{}}', 'succeeded'],
		['{"status":7}', 'unknown'],
		['{}', 'unknown'],
		['null', 'unknown'],
		['[1]', 'unknown'],
		['<oops', 'unknown'],
		['', 'unknown']
	])('%s claims %s, and nothing throws', async (body, claimed) => {
		expect(await parse(body)).toMatchObject({ claimed, authentic: 'absent' });
	});
});
