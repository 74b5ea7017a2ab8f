import type { Migration } from '../migrate.ts';

export const vouchers: Migration = {
	name: '0004-vouchers',
	statements: ({ id, int, end }) => [
		`create table voucher_batches (
			id ${id},
			owner_account_id ${int} not null references accounts (id),
			router_id ${int} not null references routers (id),
			offer_id ${int} not null,
			offer_name text not null,
			duration text not null,
			duration_seconds ${int} not null check (duration_seconds > 0),
			amount_minor ${int} not null check (amount_minor > 0),
			currency text not null,
			max_devices ${int} not null,
			speed_down_kbps ${int},
			speed_up_kbps ${int},
			data_limit_mb ${int},
			size ${int} not null,
			seller text,
			commission_basis_points ${int} not null default 0,
			account_id ${int} not null references accounts (id),
			form text unique,
			printed_at ${int},
			created_at ${int} not null
		${end}`,
		`create index voucher_batches_owner on voucher_batches (owner_account_id, id)`,
		`create table cash_closings (
			id ${id},
			owner_account_id ${int} not null references accounts (id),
			account_id ${int} not null references accounts (id),
			vouchers ${int} not null,
			expected_minor ${int} not null,
			counted_minor ${int} not null,
			currency text not null,
			note text not null,
			form text not null unique,
			created_at ${int} not null
		${end}`,
		`create index cash_closings_owner on cash_closings (owner_account_id, id)`,
		`create table vouchers (
			id ${id},
			batch_id ${int} not null references voucher_batches (id),
			code_hash text not null unique,
			status text not null check (status in ('unsold', 'sold', 'redeemed', 'void')),
			sold_at ${int},
			sold_by ${int} references accounts (id),
			redeemed_at ${int},
			session_id ${int} references sessions (id),
			void_at ${int},
			void_by ${int} references accounts (id),
			closing_id ${int} references cash_closings (id),
			form text unique,
			created_at ${int} not null,
			check ((status = 'redeemed') = (redeemed_at is not null)),
			check (status <> 'sold' or sold_at is not null),
			check ((status = 'void') = (void_at is not null))
		${end}`,
		`create index vouchers_batch on vouchers (batch_id, status)`,
		`create unique index vouchers_session on vouchers (session_id) where session_id is not null`,
		`create index vouchers_in_hand on vouchers (sold_by, sold_at) where closing_id is null and sold_by is not null`,
		`create index vouchers_sold on vouchers (sold_at) where sold_at is not null`
	]
};
