import type { Migration } from '../migrate.ts';

export const accountPayments: Migration = {
	name: '0009-account-payments',
	statements: () => [`create index payments_account on payments (account_id, id)`]
};
