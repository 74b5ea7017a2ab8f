import { describe, expect, it } from 'vitest';
import {
	adapter,
	adapterWith,
	configured,
	problemsOf,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MPESA } from '../../../support/billing/tested-operators.ts';

useOperator(MPESA);

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
