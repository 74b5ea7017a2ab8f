import { defineOperator } from '../definition.ts';
import { createPawapay } from './adapter.ts';
import { checkSettings, SETTINGS } from './settings.ts';

/**
 * pawaPay, Merchant API version 2 (docs.pawapay.io/v2). Each payment method is a
 * provider. Our reference is the depositId: a status read resolves a lost answer, and a request may be
 * repeated.
 */
export const pawapay = defineOperator({
	id: 'pawapay',
	name: 'pawaPay',
	settings: SETTINGS,
	methods: ({ PAWAPAY_PROVIDERS }) => PAWAPAY_PROVIDERS.map(({ method }) => method),
	check: checkSettings,
	create: createPawapay,
	statement: {
		reference: ['depositId', 'Deposit ID', 'Transaction ID', 'Payment ID', 'ID'],
		providerReference: [
			'providerTransactionId',
			'Provider transaction ID',
			'Provider ID',
			'Correspondent ID'
		],
		amount: ['amount', 'Amount', 'depositedAmount', 'Deposited amount'],
		status: { names: ['status', 'Status'], settled: ['COMPLETED', 'Completed'] }
	}
});
