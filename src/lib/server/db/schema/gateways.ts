import type { Generated } from 'kysely';

/** A gateway on a router, which sends devices without internet to `/splash/{key}`. */
export interface GatewaysTable {
	id: Generated<number>;
	router_id: number;
	kind: 'opennds' | 'mikrotik' | 'coova' | 'unifi' | 'hostapd';
	name: string;
	/** SHA-256 of the key in its portal address, hex. */
	key_hash: string;
	key_sealed: string;
	/** JSON array of `host` or `host:port`. */
	login_hosts: string;
	/** null if the gateway shares none. */
	secret_sealed: string | null;
	/** GatewaySettings as JSON. */
	settings: string;
	/** GatewayCredentials as JSON, sealed; null for gateways created before migration 0014. */
	credentials_sealed: Generated<string | null>;
	/** Marks our users there; null: derived from the secret that seals the key. */
	installation: Generated<string | null>;
	/** Its last authenticated message. */
	seen_at: Generated<number | null>;
	/** When it stopped responding; null while it responds. */
	unresponsive_since: Generated<number | null>;
	/** Its clock minus ours, at the last measurement. */
	clock_offset_ms: Generated<number | null>;
	/** Why the last call failed, for people; null if it succeeded. */
	trouble: Generated<string | null>;
	checked_at: Generated<number | null>;
	checked_seen_at: Generated<number | null>;
	/** Consecutive checks without an expected message. */
	missed_checks: Generated<number>;
	/** Devices online by its last report; null if it sends none. */
	online_count: Generated<number | null>;
	/** How it last named a device that is no MAC address, its digits as `x`; '' for no name, null for never. */
	unread_device: Generated<string | null>;
	unread_device_at: Generated<number | null>;
	created_at: number;
	updated_at: number;
}

/** Whose an access point is, as an administrator decided. */
export interface AccessPointOwnersTable {
	/** `aa:bb:cc:dd:ee:ff` */
	access_point: string;
	owner_account_id: number;
	decided_at: number;
}

/** One visit of a device that a gateway redirected. */
export interface CaptiveSessionsTable {
	id: Generated<number>;
	/** SHA-256 of the id in its address, hex. */
	id_hash: string;
	gateway_id: number;
	/** From the browser, so only a hint. */
	client_mac: string | null;
	client_ip: string | null;
	/** Entry as JSON, sealed because it contains the address that the buyer requested. */
	entry_sealed: string;
	/** SHA-256 of the token of its purchase, hex. */
	purchase_token_hash: string | null;
	/** When that purchase was last opened in it. The newest captive session has the device to connect. */
	bound_at: number | null;
	/** When the browser was last sent to the gateway to sign in. */
	tried_at: number | null;
	created_at: number;
	expires_at: number;
}
