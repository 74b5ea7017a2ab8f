import type { Migration } from '../migrate.ts';

/** Finds the payment of an operator's request, and the resolved reviews about a subject. */
export const moneyLookups: Migration = {
	name: '0063-money-lookups',
	statements: () => [
		`create index payments_request on payments (operator, operator_reference)
			where operator_reference is not null`,
		`create index reviews_subject on reviews (subject, reason)`
	]
};
