import type { Migration } from '../migrate.ts';

/** Adds access control. Routers with gateways and open networks let devices in by portal sign-in. */
export const access: Migration = {
	name: '0014-access',
	statements: ({ sqlite, id, int, end }) => [
		`alter table routers add column access_kind text not null default 'wpa_personal_per_client'`,
		`alter table routers add column network_password_sealed text`,
		`alter table routers add column max_devices ${int} not null default 1`,
		`alter table routers add column silent_since ${int}`,
		`update routers set access_kind = 'portal_login'
			where security = 'nopass' or id in (select router_id from gateways)`,

		`alter table sessions add column access_kind text not null default 'wpa_personal_per_client'`,
		`alter table sessions add column max_devices ${int} not null default 1`,
		`alter table sessions add column activating_until ${int}`,
		`update sessions set access_kind =
			(select routers.access_kind from routers where routers.id = sessions.router_id)`,
		`create index sessions_pass on sessions (pass_id)`,

		`alter table gateways add column credentials_sealed text`,
		`alter table gateways add column seen_at ${int}`,
		`alter table gateways add column silent_since ${int}`,
		`alter table gateways add column clock_offset_ms ${int}`,
		`alter table gateways add column trouble text`,
		`create index gateways_router on gateways (router_id)`,
		// Existing gateways keep their behaviour: another system lets their devices in.
		`update gateways set settings = ${
			sqlite
				? `json_set(settings, '$.elsewhere', json('true'))`
				: `(settings::jsonb || '{"elsewhere":true}')::text`
		}
			where kind = 'unifi' or (kind = 'opennds' and settings like '%"level":4%')`,

		`create table access_grants (
			id ${id},
			pass_id ${int} not null,
			gateway_id ${int} not null references gateways (id) on delete cascade,
			visit_id ${int} references gateway_visits (id) on delete set null,
			mac text,
			state text not null check (state in ('granting', 'granted', 'revoking', 'revoked', 'failed')),
			until_at ${int},
			granted_at ${int},
			released_at ${int},
			revoked_at ${int},
			asked_at ${int},
			revision ${int} not null default 1,
			attempts ${int} not null default 0,
			last_error text,
			created_at ${int} not null,
			updated_at ${int} not null
		${end}`,
		`create unique index access_grants_open on access_grants (pass_id, gateway_id, coalesce(mac, ''))
			where state in ('granting', 'granted') and released_at is null`,
		`create index access_grants_pass on access_grants (pass_id, id)`,
		`create index access_grants_gateway on access_grants (gateway_id, state, id)`,
		`create index access_grants_device on access_grants (gateway_id, mac) where state in ('granting', 'granted')`,

		`create table access_devices (
			id ${id},
			pass_id ${int} not null,
			gateway_id ${int} not null references gateways (id) on delete cascade,
			mac text not null,
			bound_at ${int} not null,
			seen_at ${int} not null,
			released_at ${int}
		${end}`,
		`create unique index access_devices_bound on access_devices (pass_id, mac) where released_at is null`,
		`create index access_devices_mac on access_devices (gateway_id, mac, id)`,

		`create table network_sessions (
			id ${id},
			gateway_id ${int} not null references gateways (id) on delete cascade,
			acct_session_id text not null,
			pass_id ${int},
			user_name text,
			mac text,
			ip text,
			nas_address text,
			nas_identifier text,
			started_at ${int} not null,
			seen_at ${int} not null,
			stopped_at ${int},
			stop_cause text,
			told_until ${int},
			bytes_in ${int} not null default 0,
			bytes_out ${int} not null default 0,
			disconnect_state text not null default 'none'
				check (disconnect_state in ('none', 'asked', 'done', 'failed')),
			disconnect_attempts ${int} not null default 0,
			last_error text
		${end}`,
		`create unique index network_sessions_key on network_sessions (gateway_id, acct_session_id)`,
		`create index network_sessions_pass on network_sessions (pass_id, id)`,
		`create index network_sessions_open on network_sessions (gateway_id, seen_at) where stopped_at is null`
	]
};
