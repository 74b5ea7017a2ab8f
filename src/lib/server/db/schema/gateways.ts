import type { Generated } from 'kysely';

/** A gateway on a router, which sends devices without internet to `/splash/{key}`. */
export interface GatewaysTable {
	id: Generated<number>;
	router_id: number;
	kind: 'opennds' | 'mikrotik' | 'coova' | 'unifi' | 'hostapd';
	name: string;
	/** SHA-256 of the key in its portal address, hex. */
	key_hash: string;
	/** The key itself, to be shown again. */
	key_sealed: string;
	/** JSON array of `host` or `host:port`. */
	login_hosts: string;
	/** What is shared with the gateway; null where there is nothing. */
	secret_sealed: string | null;
	/** GatewaySettings as JSON. */
	settings: string;
	/** GatewayCredentials as JSON, sealed; null for gateways from before there were any. */
	credentials_sealed: Generated<string | null>;
	/** When it was last heard of through a channel that it proves itself on; null before the first time. */
	seen_at: Generated<number | null>;
	/** Since when it ought to have been heard of; null while it is. */
	unresponsive_since: Generated<number | null>;
	/** Its clock less ours, as last measured. */
	clock_offset_ms: Generated<number | null>;
	/** Why it could last not be told something, for people; null when it could. */
	trouble: Generated<string | null>;
	/** When it was last looked whether it is silent. */
	checked_at: Generated<number | null>;
	/** `seen_at` as that check found it. */
	checked_seen_at: Generated<number | null>;
	/** How many checks in a row found nothing newer, though something was expected. */
	missed_checks: Generated<number>;
	/** Devices that it last said it has online; null where it does not say. */
	online_count: Generated<number | null>;
	created_at: number;
	updated_at: number;
}

/** One device that a gateway sent. */
export interface CaptiveSessionsTable {
	id: Generated<number>;
	/** SHA-256 of the id in the visit's address, hex. */
	id_hash: string;
	gateway_id: number;
	/** As the browser said: a hint. */
	client_mac: string | null;
	client_ip: string | null;
	/** What was handed over (Entry as JSON), sealed: it says what the customer asked for. */
	entry_sealed: string;
	/** SHA-256 of the token of the purchase that was made, or opened, on this visit. */
	purchase_token_hash: string | null;
	/** When that purchase was last opened on it: the newest one is the device to let online. */
	bound_at: number | null;
	/** When the browser was last sent to the gateway to sign in. */
	tried_at: number | null;
	created_at: number;
	expires_at: number;
}
