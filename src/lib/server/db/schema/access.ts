import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';

/** The right to be online at a router from `starts_at` to `ends_at`. Sessions buy its time. */
export interface PassesTable {
	/** Id of its first session. The API and the usernames at gateways show it. */
	id: number;
	router_id: number;
	access_kind: AccessKind;
	max_devices: number;
	/** null without a limit; the same for all sessions of the pass. */
	speed_down_kbps: Generated<number | null>;
	speed_up_kbps: Generated<number | null>;
	/** Of all its sessions together; null without a limit. */
	data_limit_mb: Generated<number | null>;
	/** Up and down, by all devices; null if no gateway has reported any. */
	data_used_bytes: Generated<number | null>;
	/** null until a gateway confirms the pass, and after a refund of an unused pass. */
	starts_at: number | null;
	ends_at: number | null;
	/** A paid pass waits for a gateway until then; afterwards it is refunded. */
	activating_until: number | null;
	/** Sealed with AES-256-GCM; erased at the end of the pass. */
	password_sealed: string | null;
	/** The session whose context sealed the password (before migration 0019); null for the pass. */
	password_session_id: number | null;
	created_at: number;
	updated_at: number;
}

/** Access of one device, or user, of a pass at one gateway. */
export interface GrantsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** The captive session of the device. Its parameters let the gateway sign the device in. */
	captive_session_id: number | null;
	/** null if the gateway grants a user, on any device. */
	mac: string | null;
	/**
	 * `granting`: the gateway has not confirmed the desired end. `granted`: it has. `revoking`: it must disconnect
	 * the device. `revoked`: it has. `failed`: it could not, and disconnects at `requested_end_at` itself.
	 */
	state: 'granting' | 'granted' | 'revoking' | 'revoked' | 'failed';
	/** The end last sent to the gateway, stored before the call; null before the first call. */
	requested_end_at: number | null;
	confirmed_end_at: Generated<number | null>;
	granted_at: number | null;
	/** When the pass gave it up before its end: after a move, a refund or the removal of the gateway. */
	released_at: number | null;
	revoked_at: number | null;
	/** The last grant request without an answer: the gateway may still carry it out. */
	unanswered_at: number | null;
	/** Counts requests to grant again, so that answers to older ones are ignored. */
	revision: Generated<number>;
	/** The device's counter as its gateway reported it last, up and down together. */
	data_bytes: Generated<number>;
	data_reported_at: Generated<number | null>;
	/** Failed calls in a row. */
	attempts: Generated<number>;
	last_error: string | null;
	created_at: number;
	updated_at: number;
}

export interface DeviceSlotsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** `aa:bb:cc:dd:ee:ff`, from the gateway. */
	mac: string;
	bound_at: number;
	reported_at: number;
	/** The end that a gateway without reports (BinAuth) enforces; null for others. */
	expected_until: Generated<number | null>;
	released_at: number | null;
}

/** One connection of a device as a gateway accounts for it (RFC 2866). */
export interface ConnectionsTable {
	id: Generated<number>;
	gateway_id: number;
	acct_session_id: string;
	/** null if the report names no known pass. */
	pass_id: number | null;
	user_name: string | null;
	mac: string | null;
	ip: string | null;
	nas_address: string | null;
	nas_identifier: string | null;
	started_at: number;
	seen_at: number;
	stopped_at: number | null;
	stop_cause: string | null;
	/** The end that the gateway enforces (Session-Timeout). */
	enforced_until: number | null;
	/** From the device. */
	bytes_in: Generated<number>;
	/** To the device. */
	bytes_out: Generated<number>;
	/** The counters of the last report, which may differ from the bytes (radius/counters.ts); null before the first. */
	counter_in: number | null;
	counter_out: number | null;
	disconnect_state: Generated<'none' | 'asked' | 'done' | 'failed'>;
	disconnect_attempts: Generated<number>;
	last_error: string | null;
}
