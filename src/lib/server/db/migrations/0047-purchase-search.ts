import type { Migration } from '../migrate.ts';

/** Finds the purchases of an owner by the last four digits of the payer's number, and by time. */
export const purchaseSearch: Migration = {
	name: '0047-purchase-search',
	statements: () => [
		// All deleted numbers end alike.
		`create index payments_ending on payments (substr(phone, length(phone) - 3), created_at)
			where phone <> '+9990000000'`,
		`create index sessions_router_created on sessions (router_id, created_at, id)`
	]
};
