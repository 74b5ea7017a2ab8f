import type { Migration } from '../migrate.ts';

export const initial: Migration = {
	name: '0001-initial',
	statements: ({ sqlite, id, int, end }) => [
		`create table accounts (
			id ${id},
			email text not null unique,
			role text not null check (role in ('app', 'owner', 'admin')),
			plan text not null check (plan in ('default', 'enterprise')),
			status text not null check (status in ('active', 'suspended')),
			created_at ${int} not null
		${end}`,
		`create table api_keys (
			id ${id},
			account_id ${int} not null references accounts (id),
			name text not null,
			hash text not null unique,
			hint text not null,
			role text not null check (role in ('app', 'owner', 'admin')),
			scopes text not null,
			created_at ${int} not null,
			expires_at ${int},
			last_used_at ${int},
			revoked_at ${int}
		${end}`,
		`create index api_keys_account on api_keys (account_id)`,
		`create table routers (
			id ${id},
			owner_account_id ${int} not null references accounts (id),
			external_id text,
			name text not null,
			address text,
			ssid text not null,
			security text not null check (security in ('wpa', 'nopass')),
			lat ${sqlite ? 'real' : 'double precision'} not null check (lat between -90 and 90),
			lon ${sqlite ? 'real' : 'double precision'} not null check (lon between -180 and 180),
			price_minor ${int} not null check (price_minor > 0),
			currency text not null,
			status text not null check (status in ('online', 'offline')),
			payment_methods text not null,
			min_duration text not null,
			max_duration text not null,
			created_at ${int} not null,
			updated_at ${int} not null,
			disabled_at ${int}
		${end}`,
		`create unique index routers_external on routers (owner_account_id, external_id)`,
		...(sqlite ? SQLITE_POSITIONS : POSTGRES_POSITIONS),
		`create table sessions (
			id ${id},
			account_id ${int} not null references accounts (id),
			router_id ${int} not null references routers (id),
			status text not null check (status in
				('pending_payment', 'activating', 'active', 'expired', 'ended', 'cancelled')),
			status_reason text,
			duration text not null,
			duration_seconds ${int} not null check (duration_seconds > 0),
			payment_method text not null,
			phone text not null,
			amount_minor ${int} not null check (amount_minor > 0),
			currency text not null,
			ssid text not null,
			payment_id ${int},
			password_sealed text,
			payment_due_at ${int} not null,
			starts_at ${int},
			expires_at ${int},
			ended_at ${int},
			created_at ${int} not null,
			updated_at ${int} not null,
			check (status <> 'active' or (starts_at is not null and expires_at is not null
				and payment_id is not null and password_sealed is not null))
		${end}`,
		`create index sessions_account on sessions (account_id)`,
		`create index sessions_router on sessions (router_id, status)`,
		`create table payments (
			id ${id},
			session_id ${int} not null references sessions (id),
			account_id ${int} not null references accounts (id),
			operator text not null,
			payment_method text not null,
			reference text not null unique,
			operator_reference text,
			amount_minor ${int} not null check (amount_minor > 0),
			currency text not null,
			phone text not null,
			status text not null check (status in
				('pending', 'success', 'failed', 'expired', 'refund_pending', 'refunded', 'refund_failed')),
			submit_state text not null check (submit_state in
				('created', 'submitting', 'accepted', 'refused', 'uncertain')),
			submitted_at ${int},
			not_found_count ${int} not null default 0,
			applied ${int} not null default 0 check (applied in (0, 1)),
			failure_code text,
			failure_message text,
			provider_reference text,
			settled_minor ${int},
			settled_currency text,
			commission_basis_points ${int} not null,
			review_reason text,
			expires_at ${int} not null,
			paid_at ${int},
			refunded_at ${int},
			refund_reason text,
			created_at ${int} not null,
			updated_at ${int} not null
		${end}`,
		// The database enforces it: a session has at most one pending and one applied payment.
		`create unique index payments_one_pending on payments (session_id) where status = 'pending'`,
		`create unique index payments_one_applied on payments (session_id) where applied = 1`,
		`create index payments_session on payments (session_id)`,
		`create index payments_phone on payments (phone, created_at)`,
		`create table refunds (
			id ${id},
			payment_id ${int} not null references payments (id),
			reference text not null unique,
			amount_minor ${int} not null check (amount_minor > 0),
			currency text not null,
			reason text not null,
			status text not null check (status in ('pending', 'succeeded', 'failed')),
			submit_state text not null check (submit_state in
				('created', 'submitting', 'accepted', 'refused', 'uncertain')),
			created_at ${int} not null,
			updated_at ${int} not null
		${end}`,
		// Prevents double refunds: a payment has at most one open or completed refund.
		`create unique index refunds_one_open on refunds (payment_id) where status <> 'failed'`,
		`create table operator_messages (
			id ${id},
			payment_id ${int} not null references payments (id),
			kind text not null check (kind in ('submit', 'status', 'callback', 'refund')),
			outcome text not null,
			raw text,
			received_at ${int} not null
		${end}`,
		`create index operator_messages_payment on operator_messages (payment_id, kind)`,
		`create table events (
			id text primary key,
			type text not null,
			account_id ${int} not null references accounts (id),
			router_id ${int} not null references routers (id),
			session_id ${int} not null references sessions (id),
			payment_id ${int} references payments (id),
			data text not null,
			created_at ${int} not null
		${end}`,
		`create index events_session on events (session_id)`,
		`create table jobs (
			id ${id},
			kind text not null,
			subject_id ${int} not null,
			run_at ${int} not null,
			attempts ${int} not null default 0,
			wakes ${int} not null default 0,
			lease_owner text,
			lease_until ${int},
			last_error text,
			created_at ${int} not null,
			unique (kind, subject_id)
		${end}`,
		`create index jobs_run_at on jobs (run_at)`,
		`create table purchases (
			id ${id},
			token_hash text not null unique,
			router_id ${int} not null,
			duration text not null,
			payment_method text not null,
			phone text not null,
			amount_minor ${int} not null,
			currency text not null,
			session_id ${int},
			replaces_session_id ${int},
			payment_ids text not null default '[]',
			created_at ${int} not null,
			updated_at ${int} not null
		${end}`,
		`create index purchases_session on purchases (session_id)`,
		`create table sandbox_charges (
			reference text primary key,
			phone text not null,
			amount_minor ${int} not null,
			currency text not null,
			callback_url text not null,
			payment_expires_at ${int} not null,
			first_seen_at ${int} not null,
			queued_at ${int}
		${end}`,
		`create table sandbox_refunds (
			reference text primary key,
			charge_reference text not null references sandbox_charges (reference),
			amount_minor ${int} not null,
			currency text not null,
			created_at ${int} not null
		${end}`
	]
};

/** An R*Tree that triggers keep in step. It rounds 32-bit floats outwards, so it never misses a router. */
const SQLITE_POSITIONS = [
	`create virtual table router_positions using rtree (id, min_lat, max_lat, min_lon, max_lon)`,
	`create trigger routers_position_insert after insert on routers begin
		insert into router_positions values (new.id, new.lat, new.lat, new.lon, new.lon);
	end`,
	`create trigger routers_position_update after update of lat, lon on routers begin
		update router_positions set min_lat = new.lat, max_lat = new.lat, min_lon = new.lon, max_lon = new.lon
		where id = new.id;
	end`,
	`create trigger routers_position_delete after delete on routers begin
		delete from router_positions where id = old.id;
	end`
];

const POSTGRES_POSITIONS = [`create index routers_position on routers using gist (point(lon, lat))`];
