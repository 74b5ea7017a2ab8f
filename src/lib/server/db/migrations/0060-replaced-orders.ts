import type { Migration } from '../migrate.ts';

/** Finds the order that replaced a session, with its device, when the session is paid all the same. */
export const replacedOrders: Migration = {
	name: '0060-replaced-orders',
	statements: () => [
		`create index purchases_replaced on purchases (replaces_session_id) where replaces_session_id is not null`
	]
};
