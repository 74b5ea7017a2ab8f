import type { Migration } from '../migrate.ts';

/**
 * Renames tables and columns after the glossary. Splits a column of device slots: `reported_at` is the gateway's last
 * report, and `expected_until` the end that a gateway without reports (openNDS with BinAuth) enforces.
 */
export const accessNames: Migration = {
	name: '0020-access-names',
	statements: ({ int }) => [...grants, ...deviceSlots(int), ...captiveSessions, ...connections]
};

const dropped = (...names: string[]) => names.map((name) => `drop index ${name}`);

const grants = [
	...dropped('access_grants_open', 'access_grants_pass', 'access_grants_gateway', 'access_grants_device'),
	...dropped('access_grants_over'),
	`alter table access_grants rename to grants`,
	`alter table grants rename column until_at to requested_end_at`,
	`alter table grants rename column confirmed_until_at to confirmed_end_at`,
	`alter table grants rename column asked_at to unanswered_at`,
	`alter table grants rename column visit_id to captive_session_id`,
	`create unique index grants_open on grants (pass_id, gateway_id, coalesce(mac, ''))
		where state in ('granting', 'granted') and released_at is null`,
	`create index grants_pass on grants (pass_id, id)`,
	`create index grants_gateway on grants (gateway_id, state, id)`,
	`create index grants_device on grants (gateway_id, mac) where state in ('granting', 'granted')`,
	`create index grants_over on grants (updated_at) where state in ('revoked', 'failed')`
];

const deviceSlots = (int: string) => [
	...dropped('access_devices_bound', 'access_devices_mac', 'access_devices_released', 'access_devices_seen'),
	...dropped('access_devices_pass'),
	`alter table access_devices rename to device_slots`,
	`alter table device_slots rename column seen_at to reported_at`,
	`alter table device_slots add column expected_until ${int}`,
	`update device_slots set expected_until = reported_at
		where gateway_id in (select id from gateways where kind = 'opennds')
			and (released_at is null or reported_at > released_at)`,
	`update device_slots set reported_at = bound_at
		where gateway_id in (select id from gateways where kind = 'opennds')`,
	`create unique index device_slots_bound on device_slots (pass_id, mac) where released_at is null`,
	`create index device_slots_mac on device_slots (gateway_id, mac, id)`,
	`create index device_slots_pass on device_slots (pass_id, id)`,
	`create index device_slots_released on device_slots (released_at) where released_at is not null`,
	`create index device_slots_reported on device_slots (reported_at)`
];

const captiveSessions = [
	...dropped('gateway_visits_mac', 'gateway_visits_ip', 'gateway_visits_purchase', 'gateway_visits_end'),
	`alter table gateway_visits rename to captive_sessions`,
	`create index captive_sessions_mac on captive_sessions (gateway_id, client_mac, id)`,
	`create index captive_sessions_ip on captive_sessions (gateway_id, client_ip, id)`,
	`create index captive_sessions_purchase on captive_sessions (purchase_token_hash, id)`,
	`create index captive_sessions_end on captive_sessions (expires_at)`
];

const connections = [
	...dropped('network_sessions_key', 'network_sessions_pass', 'network_sessions_open'),
	...dropped('network_sessions_unbooked', 'network_sessions_seen'),
	`alter table network_sessions rename to connections`,
	`create unique index connections_key on connections
		(gateway_id, acct_session_id, coalesce(nas_address, ''), coalesce(nas_identifier, ''))`,
	`create index connections_pass on connections (pass_id, id)`,
	`create index connections_open on connections (gateway_id, seen_at) where stopped_at is null`,
	`create index connections_unbooked on connections (id) where bytes_in <> booked_in or bytes_out <> booked_out`,
	`create index connections_seen on connections (seen_at)`
];
