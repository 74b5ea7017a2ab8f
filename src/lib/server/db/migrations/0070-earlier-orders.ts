import type { Migration } from '../migrate.ts';

/** Finds the earlier orders of a number at a router, and the page or network from which each one came. */
export const earlierOrders: Migration = {
	name: '0070-earlier-orders',
	statements: () => [
		`alter table purchases add column number_hash text`,
		`alter table purchases add column asked_from text`,
		`create index purchases_number on purchases (number_hash) where number_hash is not null`
	]
};
