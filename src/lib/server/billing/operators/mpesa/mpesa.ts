import { defineOperator } from '../definition.ts';
import { createMpesa } from './adapter.ts';
import { checkSettings, SETTINGS } from './settings.ts';
import { referenceStart } from './wire.ts';

/**
 * Safaricom Daraja, M-Pesa Express (page of that name on developer.safaricom.co.ke). The id is not `mpesa`:
 * it is part of callback addresses, and Daraja advises against its own names there.
 */
export const mpesa = defineOperator({
	id: 'daraja',
	name: 'M-Pesa Express (Daraja)',
	settings: SETTINGS,
	methods: () => ['mpesa'],
	check: checkSettings,
	create: createMpesa,
	// Names of the organisation portal's statement, then of Pull Transactions.
	statement: {
		reference: ['A/C No.', 'A/C No', 'Account No.', 'billreference'],
		referenceStart,
		providerReference: ['Receipt No.', 'Receipt No', 'transactionId'],
		amount: ['Paid In', 'Paid in', 'Amount', 'amount'],
		status: { names: ['Transaction Status'], settled: ['Completed'] }
	}
});
