import { airtelProtocol } from '../../simulators/airtel.ts';
import { mpesa } from '../../simulators/mpesa.ts';
import { mtn } from '../../simulators/mtn.ts';
import { pawapay } from '../../simulators/pawapay.ts';
import type { Operator } from './adapter.ts';

export const MTN: Operator = {
	protocol: () => mtn(),
	order: { amountMinor: 1_500, currency: 'UGX', payerPhone: '+256772123456', paymentMethod: 'mtn_momo' }
};

/** Of its request to pay. */
export const MTN_PATH = '/collection/v1_0/requesttopay';
/** Settings without refunds. */
export const NO_DISBURSEMENT = {
	MTN_DISBURSEMENT_SUBSCRIPTION_KEY: '',
	MTN_DISBURSEMENT_API_USER: '',
	MTN_DISBURSEMENT_API_KEY: ''
};

export const AIRTEL: Operator = {
	protocol: () => airtelProtocol(),
	order: { amountMinor: 1_000, currency: 'UGX', payerPhone: '+256700000001', paymentMethod: 'airtel_money' }
};

export const MPESA: Operator = {
	protocol: () => mpesa(),
	order: { amountMinor: 2_500, currency: 'KES', payerPhone: '+254708374149', paymentMethod: 'mpesa' }
};

export const PAWAPAY: Operator = {
	protocol: () => pawapay(),
	env: { PAWAPAY_PROVIDERS: 'mtn_momo=MTN_MOMO_RWA,airtel_money=AIRTEL_RWA' },
	order: { amountMinor: 500, currency: 'RWF', payerPhone: '+250783456789', paymentMethod: 'mtn_momo' }
};
