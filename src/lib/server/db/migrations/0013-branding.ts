import type { Migration } from '../migrate.ts';

/** Branding of owners and routers, and price changes on a page, which have no API key. */
export const branding: Migration = {
	name: '0013-branding',
	statements: ({ sqlite, int, end }) => [
		`create table brands (
			subject text primary key,
			account_id ${int} not null references accounts (id),
			router_id ${int} references routers (id),
			name text,
			accent text,
			logo_file text,
			logo_data text,
			logo_width ${int},
			logo_height ${int},
			updated_at ${int} not null,
			updated_by ${int} not null references accounts (id)
		${end}`,
		`create index brands_logo on brands (logo_file) where logo_file is not null`,
		// SQLite cannot drop a column's constraint, so the table is rebuilt.
		...(sqlite
			? [
					`create table price_changes_new (
						id integer primary key autoincrement,
						router_id integer not null references routers (id),
						old_price_minor integer not null,
						new_price_minor integer not null,
						currency text not null,
						account_id integer not null references accounts (id),
						api_key_id integer references api_keys (id),
						changed_at integer not null
					) strict`,
					`insert into price_changes_new (id, router_id, old_price_minor, new_price_minor, currency,
						account_id, api_key_id, changed_at)
						select id, router_id, old_price_minor, new_price_minor, currency, account_id, api_key_id,
							changed_at from price_changes`,
					`drop table price_changes`,
					`alter table price_changes_new rename to price_changes`,
					`create index price_changes_router on price_changes (router_id)`
				]
			: [`alter table price_changes alter column api_key_id drop not null`])
	]
};
