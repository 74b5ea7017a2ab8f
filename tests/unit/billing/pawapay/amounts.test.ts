/** Amounts and providers of pawaPay, which depend on the account. */
import { describe, expect, it } from 'vitest';
import type { PaymentRequest } from '../../../../src/lib/server/billing/operators/operator.ts';
import { receiver, request, simulator, useOperator } from '../../../support/billing/adapter.ts';
import { adapterFor, sent, settled } from '../../../support/billing/pawapay.ts';
import { PAWAPAY } from '../../../support/billing/tested-operators.ts';

useOperator(PAWAPAY);

/** ZMW has decimals. */
const zambian = () =>
	adapterFor(
		{ PAWAPAY_PROVIDERS: 'mtn_momo=MTN_MOMO_ZMB,airtel_money=AIRTEL_OAPI_ZMB' },
		{ currency: 'ZMW' }
	);

describe('amounts', () => {
	it('have decimals if the provider supports them', async () => {
		const adapter = zambian();
		for (const amountMinor of [1_050, 1_000, 55]) {
			await adapter.submit(request({ amountMinor, currency: 'ZMW', payerPhone: '+260763456789' }));
		}
		expect(sent('/v2/deposits').map(({ amount }) => amount)).toEqual(['10.50', '10', '0.55']);
	});

	it('are read back in minor units', async () => {
		const adapter = zambian();
		const payment = request({ amountMinor: 1_050, currency: 'ZMW', payerPhone: '+260763456789' });
		await adapter.submit(payment);
		expect(await settled(adapter, payment)).toMatchObject({ amountMinor: 1_050, currency: 'ZMW' });
	});

	it.each(['object', 'list'])(
		'with a fraction are refused if the account allows none, in both forms (%s)',
		async (operation_types) => {
			simulator.portal({ operation_types });
			const kenyan = adapterFor({ PAWAPAY_PROVIDERS: 'mpesa=MPESA_KEN' }, { currency: 'KES' });
			const payment = request({
				amountMinor: 1_050,
				currency: 'KES',
				payerPhone: '+254703456789',
				paymentMethod: 'mpesa'
			});
			expect(await kenyan.submit(payment)).toMatchObject({ kind: 'refused', reason: 'merchant_error' });
			expect(sent('/v2/deposits')).toEqual([]);
			// Known from now on.
			for (const method of ['mpesa', 'mobile_money']) {
				expect(kenyan.amounts(method)).toMatchObject({ stepMinor: 100, maxMinor: 25_000_000 });
			}
			expect(await kenyan.submit({ ...payment, amountMinor: 1_000 })).toMatchObject({ kind: 'accepted' });
			expect(sent('/v2/deposits')).toMatchObject([{ amount: '10' }]);
		}
	);

	it('follow the currency as long as nothing is known', () => {
		const amounts = (currency: string, providers: string) =>
			adapterFor({ PAWAPAY_PROVIDERS: providers }, { currency }).amounts('mpesa');
		expect(amounts('TZS', 'mpesa=VODACOM_TZA')).toMatchObject({ stepMinor: 100, minMinor: 1 });
		expect(amounts('KES', 'mpesa=MPESA_KEN')).toMatchObject({ stepMinor: 1, minMinor: 1 });
		expect(adapterFor().currency).toBe('RWF');
	});

	it('do not wait for an unavailable configuration', async () => {
		receiver.reply('/v2/active-conf?operationType=DEPOSIT', 'hang');
		receiver.reply('/v2/deposits', { status: 200, body: '{"status":"ACCEPTED"}' });
		const adapter = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		expect(await adapter.submit(request())).toMatchObject({ kind: 'accepted' });
		expect(await adapter.submit(request())).toMatchObject({ kind: 'accepted' });
		// Not asked for again at once.
		expect(receiver.at('/v2/active-conf?operationType=DEPOSIT')).toHaveLength(1);
	});

	it('need one look at the configuration for twenty payments at once, and another one later', async () => {
		const adapter = adapterFor();
		const looks = () => simulator.requests.filter(({ path }) => path === '/v2/active-conf').length;
		await Promise.all(Array.from({ length: 20 }, () => adapter.submit(request())));
		expect(looks()).toBe(1);
		simulator.advance(11 * 60_000);
		await adapter.submit(request());
		expect(looks()).toBe(2);
	});
});

describe('the provider', () => {
	const providerOf = async (more: Partial<PaymentRequest>, adapter = adapterFor()) => {
		await adapter.submit(request(more));
		const last = sent('/v2/deposits').at(-1) as
			{ payer: { accountDetails: { provider: string } } } | undefined;
		return last?.payer.accountDetails.provider;
	};
	const predictions = () => sent('/v2/predict-provider').length;

	it('is the one of the method that was chosen, whatever the number looks like', async () => {
		expect(await providerOf({ paymentMethod: 'airtel_money' })).toBe('AIRTEL_RWA');
		expect(await providerOf({ payerPhone: '+250733456789' })).toBe('MTN_MOMO_RWA');
		expect(predictions()).toBe(0);
	});

	it('is predicted when the choice was left to us', async () => {
		const airtel = { paymentMethod: 'mobile_money', payerPhone: '+250733456789' };
		expect(await providerOf(airtel)).toBe('AIRTEL_RWA');
		expect(sent('/v2/predict-provider')).toEqual([{ phoneNumber: '250733456789' }]);
	});

	it('is guessed when there is no prediction, else the first of the country', async () => {
		receiver.reply('/v2/predict-provider', 'drop');
		const used: string[] = [];
		receiver.reply('/v2/deposits', ({ raw }) => {
			used.push(raw);
			return { status: 200, body: '{"status":"ACCEPTED"}' };
		});
		const adapter = adapterFor({ PAWAPAY_BASE_URL: receiver.url });
		await adapter.submit(request({ paymentMethod: 'mobile_money', payerPhone: '+250733456789' }));
		await adapter.submit(request({ paymentMethod: 'mobile_money', payerPhone: '+250703456789' }));
		expect(used[0]).toContain('AIRTEL_RWA');
		expect(used[1]).toContain('MTN_MOMO_RWA');
	});

	it('is not one that was not set up, although predicted', async () => {
		const adapter = adapterFor({ PAWAPAY_PROVIDERS: 'mtn_momo=MTN_MOMO_RWA' });
		const airtel = { paymentMethod: 'mobile_money', payerPhone: '+250733456789' };
		expect(await providerOf(airtel, adapter)).toBe('MTN_MOMO_RWA');
	});

	it('takes numbers of its country', () => {
		const adapter = adapterFor();
		expect(adapter.takesNumber('+250733456789')).toBe(true);
		expect(adapter.takesNumber('+256772123456')).toBe(false);
	});
});
