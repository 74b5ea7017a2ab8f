import type { Migration } from '../migrate.ts';

/** Finds a payment by the operator's transaction ID. */
export const paymentReceipts: Migration = {
	name: '0061-payment-receipts',
	statements: () => [
		`create index payments_receipt on payments (provider_reference) where provider_reference is not null`
	]
};
