import type { Migration } from '../migrate.ts';

/** Prices that are set on the command line, which has no account, and words in tokens such as `Shop/Cafe`. */
export const priceHistory: Migration = {
	name: '0037-price-history',
	statements: ({ sqlite }) => (sqlite ? SQLITE : POSTGRES)
};

/** SQLite cannot drop a column's constraint, so the table is rebuilt. */
const SQLITE = [
	`create table price_changes_new (
		id integer primary key autoincrement,
		router_id integer not null references routers (id),
		old_price_minor integer not null,
		new_price_minor integer not null,
		currency text not null,
		account_id integer references accounts (id),
		api_key_id integer references api_keys (id),
		changed_at integer not null
	) strict`,
	`insert into price_changes_new select id, router_id, old_price_minor, new_price_minor, currency, account_id,
		api_key_id, changed_at from price_changes`,
	`drop table price_changes`,
	`alter table price_changes_new rename to price_changes`,
	`create index price_changes_router on price_changes (router_id)`
];

/** PostgreSQL reads `Shop/Cafe` as a path, `v2.5` as a version and `a@b` as an address: one word each. */
const POSTGRES = [
	`alter table price_changes alter column account_id drop not null`,
	String.raw`create or replace function without_accents(words text) returns text
	language sql immutable strict parallel safe as $$
		select translate(case when getdatabaseencoding() = 'UTF8'
			then regexp_replace(normalize(words, NFKD), '[\u0300-\u036f\u064b-\u065f]', '', 'g') else words end,
			'/\.-+_:@&<>', '           ')
	$$`,
	`reindex index routers_words`
];
