/** Settings of MTN MoMo, and what a health check says about wrong ones. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { mtn } from '../../../simulators/mtn.ts';
import {
	adapter,
	adapterWith,
	problemsOf,
	simulator,
	start,
	useOperator
} from '../../../support/billing/adapter.ts';
import { MTN, NO_DISBURSEMENT } from '../../../support/billing/tested-operators.ts';

useOperator(MTN);

describe('its health', () => {
	it('names the problem', async () => {
		const reasonWith = async (env: Record<string, string>) => adapterWith(env).health();
		expect(await reasonWith({ MTN_API_KEY: 'x' })).toMatch(
			/refuses MTN_API_USER, MTN_API_KEY and .*\(HTTP 401/
		);
		expect(await reasonWith({ MTN_DISBURSEMENT_SUBSCRIPTION_KEY: 'x' })).toMatch(/MTN_DISBURSEMENT_/);
		// The user of Collections gets a token for Disbursements, and each refund is refused.
		const { api_user = '', api_key = '' } = simulator.credentials;
		for (const user of [api_user, '']) {
			const key = user === '' ? '' : api_key;
			const env = { MTN_DISBURSEMENT_API_USER: user, MTN_DISBURSEMENT_API_KEY: key };
			expect(await reasonWith(env)).toMatch(/^MTN_DISBURSEMENT_API_USER: .*HTTP 500 NOT_ALLOWED/);
		}
		expect(await reasonWith({ MTN_BASE_URL: 'http://127.0.0.1:1' })).toMatch(/gives no token: network/);
		await simulator.stop();
		await start(mtn({ market: 'mtnuganda' }));
		const wrongMarket = { MTN_TARGET_ENVIRONMENT: 'mtnelsewhere' };
		expect(await reasonWith(wrongMarket)).toMatch(/^MTN_TARGET_ENVIRONMENT: .*mtnelsewhere/);
	});

	it('sees an account of another currency', async () => {
		await simulator.stop();
		await start(mtn({ market: 'mtnliberia' }));
		const other = adapterWith({ MTN_CURRENCY: 'USD' }, { currency: 'USD' });
		expect(await other.health()).toMatch(/^MTN_CURRENCY: .*LRD, not USD/);
	});
});

describe('its settings', () => {
	it('go together', () => {
		const uganda = { MTN_TARGET_ENVIRONMENT: 'mtnuganda' };
		expect(problemsOf({ MTN_CURRENCY: 'UGX' })).toEqual([expect.stringMatching(/^MTN_CURRENCY: .*EUR/)]);
		expect(problemsOf({ ...uganda, MTN_CURRENCY: 'EUR' })).toEqual([
			expect.stringMatching(/^MTN_CURRENCY: /)
		]);
		expect(problemsOf(uganda)).toEqual([]);
		expect(problemsOf(uganda, { currency: 'KES' })).toEqual([
			expect.stringMatching(/^MTN_TARGET_ENVIRONMENT: mtnuganda takes UGX/)
		]);
		expect(problemsOf({ MTN_TARGET_ENVIRONMENT: 'mtnnewland' }, { currency: 'KES' })).toEqual([]);
		expect(problemsOf({ ...NO_DISBURSEMENT, MTN_DISBURSEMENT_API_KEY: 'x' })).toEqual([
			expect.stringMatching(/^MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: /)
		]);
		expect(problemsOf({ MTN_DISBURSEMENT_API_USER: '' })).toEqual([
			expect.stringMatching(/^MTN_DISBURSEMENT_API_USER and MTN_DISBURSEMENT_API_KEY: /)
		]);
		expect(
			problemsOf({
				MTN_DISBURSEMENT_SUBSCRIPTION_KEY: '',
				MTN_DISBURSEMENT_API_USER: randomUUID(),
				MTN_DISBURSEMENT_API_KEY: 'x'
			})
		).toEqual([expect.stringMatching(/^MTN_DISBURSEMENT_SUBSCRIPTION_KEY: /)]);
	});

	it('keep real and test money apart', () => {
		const real = { MTN_TARGET_ENVIRONMENT: 'mtnuganda', MTN_BASE_URL: 'https://proxy.momoapi.mtn.com' };
		expect(problemsOf(real)).toEqual([expect.stringMatching(/^MTN_BASE_URL: .*real money/)]);
		const live = { mode: 'live', callbackUrl: 'https://till.example' } as const;
		expect(problemsOf(real, live)).toEqual([]);
		expect(problemsOf({ MTN_BASE_URL: 'https://sandbox.momodeveloper.mtn.com' }, live)).toEqual([
			expect.stringMatching(/^MTN_TARGET_ENVIRONMENT: /)
		]);
		expect(problemsOf({ ...real, MTN_BASE_URL: 'http://mtn.example' }, live)).toEqual([
			expect.stringMatching(/^MTN_BASE_URL: .*https/)
		]);
		for (const callbackUrl of ['http://till.example', 'https://192.0.2.1', 'https://[2001:db8::1]']) {
			expect(problemsOf(real, { ...live, callbackUrl }), callbackUrl).toEqual([
				expect.stringMatching(/^MTN_CALLBACKS: .*CALLBACK_URL/)
			]);
			expect(problemsOf({ ...real, MTN_CALLBACKS: 'off' }, { ...live, callbackUrl })).toEqual([]);
		}
	});

	it('define the supported numbers', () => {
		expect(adapter.takesNumber('+46733123451')).toBe(true);
		expect(adapter.takesNumber('+254712345678')).toBe(true);
		const uganda = adapterWith({ MTN_TARGET_ENVIRONMENT: 'mtnuganda' });
		expect(uganda.takesNumber('+256772123456')).toBe(true);
		expect(uganda.takesNumber('+254712345678')).toBe(false);
		expect(uganda.takesNumber('+46733123451')).toBe(false);
		const kenya = adapterWith({ MTN_COUNTRY: 'KE' });
		expect(kenya.takesNumber('+256772123456')).toBe(false);
		expect(kenya.takesNumber('+46733123451')).toBe(true);
	});
});
