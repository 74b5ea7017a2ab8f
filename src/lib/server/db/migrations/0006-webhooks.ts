import type { Migration } from '../migrate.ts';

export const webhooks: Migration = {
	name: '0006-webhooks',
	statements: ({ id, int, end }) => [
		`create table webhook_endpoints (
			id ${id},
			account_id ${int} not null references accounts (id),
			url text not null,
			address text not null,
			events text not null,
			status text not null check (status in ('active', 'disabled')),
			disabled_reason text check (disabled_reason in ('gone', 'failing', 'manual')),
			secret_sealed text not null,
			old_secret_sealed text,
			old_secret_until ${int},
			last_success_at ${int},
			failing_since ${int},
			failing_noticed ${int} not null default 0 check (failing_noticed in (0, 1)),
			notice text check (notice in ('failing', 'disabled')),
			notice_lease_until ${int},
			created_at ${int} not null,
			updated_at ${int} not null,
			check ((status = 'disabled') = (disabled_reason is not null))
		${end}`,
		`create unique index webhook_endpoints_address on webhook_endpoints (account_id, address)`,
		`create table webhook_deliveries (
			id ${id},
			endpoint_id ${int} not null references webhook_endpoints (id) on delete cascade,
			event_id text not null,
			type text not null,
			body_sealed text not null,
			status text not null check (status in ('pending', 'delivered', 'failed')),
			attempts ${int} not null default 0,
			tries ${int} not null default 0,
			next_attempt_at ${int},
			lease_owner text,
			lease_until ${int},
			last_status_code ${int},
			last_failure text,
			last_attempt_at ${int},
			created_at ${int} not null,
			updated_at ${int} not null,
			check ((status = 'pending') = (next_attempt_at is not null))
		${end}`,
		// The database enforces it: an endpoint gets one delivery per event.
		`create unique index webhook_deliveries_event on webhook_deliveries (endpoint_id, event_id)`,
		`create index webhook_deliveries_list on webhook_deliveries (endpoint_id, id)`,
		`create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_attempt_at)
			where status = 'pending' and lease_until is null`,
		`create index webhook_deliveries_leased on webhook_deliveries (lease_until)
			where lease_until is not null`,
		`create index webhook_deliveries_old on webhook_deliveries (updated_at) where status <> 'pending'`,
		`create table webhook_attempts (
			id ${id},
			delivery_id ${int} not null references webhook_deliveries (id) on delete cascade,
			started_at ${int} not null,
			duration_ms ${int} not null,
			status_code ${int},
			failure text,
			response text
		${end}`,
		`create index webhook_attempts_delivery on webhook_attempts (delivery_id, started_at)`,
		`create index webhook_attempts_started on webhook_attempts (started_at)`,
		// Finds old events whose data is to be deleted; the events stay.
		`create index events_kept on events (created_at) where data <> '{}'`
	]
};
