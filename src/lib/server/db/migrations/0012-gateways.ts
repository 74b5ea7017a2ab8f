import type { Migration } from '../migrate.ts';

/** Gateways and captive sessions. A router may belong to a remote service, so gateways have no foreign key to it. */
export const gateways: Migration = {
	name: '0012-gateways',
	statements: ({ id, int, end }) => [
		`create table gateways (
			id ${id},
			router_id ${int} not null,
			kind text not null,
			name text not null unique,
			key_hash text not null unique,
			key_sealed text not null,
			login_hosts text not null,
			secret_sealed text,
			settings text not null,
			created_at ${int} not null,
			updated_at ${int} not null
		${end}`,
		`create index gateways_kind on gateways (kind)`,
		`create table gateway_visits (
			id ${id},
			id_hash text not null unique,
			gateway_id ${int} not null references gateways (id) on delete cascade,
			client_mac text,
			client_ip text,
			entry_sealed text not null,
			purchase_token_hash text,
			bound_at ${int},
			tried_at ${int},
			created_at ${int} not null,
			expires_at ${int} not null
		${end}`,
		`create index gateway_visits_mac on gateway_visits (gateway_id, client_mac, id)`,
		`create index gateway_visits_ip on gateway_visits (gateway_id, client_ip, id)`,
		`create index gateway_visits_purchase on gateway_visits (purchase_token_hash, id)`,
		`create index gateway_visits_end on gateway_visits (expires_at)`
	]
};
