import { defineOperator } from '../definition.ts';
import { createAirtel } from './adapter.ts';
import { checkSettings, SETTINGS } from './settings.ts';

/** Airtel Money, Collection API ("USSD Push"). The portal holds one callback address for all payments. */
export const airtel = defineOperator({
	id: 'airtel',
	name: 'Airtel Money',
	settings: SETTINGS,
	methods: () => ['airtel_money'],
	check: checkSettings,
	create: createAirtel,
	statement: {
		reference: ['External ID', 'External Transaction ID', 'Partner Transaction ID', 'Reference ID'],
		providerReference: ['Airtel Money ID', 'Transaction ID', 'Txn ID'],
		amount: ['Transaction Amount', 'Amount'],
		status: {
			names: ['Transaction Status', 'Status'],
			settled: ['TS', 'Transaction Success', 'Success', 'Successful']
		}
	}
});
