import type { Migration } from '../migrate.ts';

/** Finds the refunds of a period without reading the payments of all time. */
export const refundTimes: Migration = {
	name: '0049-refund-times',
	statements: () => [
		`create index payments_refunded on payments (refunded_at) where applied = 1 and refunded_at is not null`
	]
};
