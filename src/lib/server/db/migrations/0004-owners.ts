import type { Migration } from '../migrate.ts';

export const owners: Migration = {
	name: '0004-owners',
	statements: ({ id, int, end }) => [
		`create table price_changes (
			id ${id},
			router_id ${int} not null references routers (id),
			old_price_minor ${int} not null,
			new_price_minor ${int} not null,
			currency text not null,
			account_id ${int} not null references accounts (id),
			api_key_id ${int} not null references api_keys (id),
			changed_at ${int} not null
		${end}`,
		`create index price_changes_router on price_changes (router_id)`,
		`create index payments_paid on payments (paid_at) where applied = 1`,
		`create index routers_owner on routers (owner_account_id)`
	]
};
