import type { Migration } from '../migrate.ts';

/** Routers sell packages besides the hourly price. A session and its pass keep the limits that were agreed. */
export const offers: Migration = {
	name: '0032-offers',
	statements: ({ id, int, end }) => [
		`alter table routers add column offers text not null default '[]'`,
		`alter table routers add column last_offer_id ${int} not null default 0`,
		`alter table routers add column hourly ${int} not null default 1`,
		`create table offer_changes (
			id ${id},
			router_id ${int} not null references routers (id),
			hourly ${int} not null,
			offers text not null,
			account_id ${int} not null references accounts (id),
			api_key_id ${int} references api_keys (id),
			changed_at ${int} not null
		${end}`,
		`create index offer_changes_by_router on offer_changes (router_id, id)`,
		`alter table sessions add column offer_id ${int}`,
		`alter table sessions add column offer_name text`,
		...['sessions', 'passes'].flatMap((table) =>
			['speed_down_kbps', 'speed_up_kbps', 'data_limit_mb'].map(
				(column) => `alter table ${table} add column ${column} ${int}`
			)
		),
		`alter table purchases add column offer_id ${int}`
	]
};
