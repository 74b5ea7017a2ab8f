/** Settings of Airtel Money. */
import { describe, expect, it } from 'vitest';
import {
	adapter,
	adapterWith,
	configure,
	problemsOf,
	simulator,
	useOperator
} from '../../../support/billing/adapter.ts';
import { AIRTEL } from '../../../support/billing/tested-operators.ts';

useOperator(AIRTEL);

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
