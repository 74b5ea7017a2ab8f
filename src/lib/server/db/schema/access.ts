import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';

/** The right to be online at a router from `starts_at` to `ends_at`. Sessions buy its time. */
export interface PassesTable {
	/** Id of the session that the pass began with: the API and the usernames at gateways show it. */
	id: number;
	router_id: number;
	access_kind: AccessKind;
	max_devices: number;
	/** null until a gateway confirms the pass, and after it was refunded unused. */
	starts_at: number | null;
	ends_at: number | null;
	/** Paid, and waiting for a gateway until this instant; then the money goes back. */
	activating_until: number | null;
	/** Sealed with AES-256-GCM; erased at the end of the pass. */
	password_sealed: string | null;
	/** The session that the password is sealed for, where it is older than this table; else null: for the pass. */
	password_session_id: number | null;
	created_at: number;
	updated_at: number;
}

/** Access of one device, or user, of a pass at one gateway. */
export interface GrantsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** The captive session that brought the device, with what the gateway needs to sign it in. */
	captive_session_id: number | null;
	/** null if the gateway grants a user, on any device. */
	mac: string | null;
	/**
	 * `granting`: the gateway does not know the desired end yet. `granted`: it has confirmed it. `revoking`: it must
	 * disconnect the device. `revoked`: it has. `failed`: it could not, and disconnects at `requested_end_at` itself.
	 */
	state: 'granting' | 'granted' | 'revoking' | 'revoked' | 'failed';
	/** The desired end as last sent to the gateway, stored before the call; null before the first call. */
	requested_end_at: number | null;
	/** The last end that the gateway confirmed. */
	confirmed_end_at: Generated<number | null>;
	granted_at: number | null;
	/** When the pass stopped wanting it before its end: a move, a refund or the removal of the gateway. */
	released_at: number | null;
	revoked_at: number | null;
	/** The last grant request without a known answer: the gateway may still carry it out. */
	unanswered_at: number | null;
	/** Counts requests to grant again: an answer to an older revision does not count. */
	revision: Generated<number>;
	/** 0 where the gateway's user may lack the mark of this installation (created before migration 0017). */
	is_marked: Generated<number>;
	/** Failed calls in a row. */
	attempts: Generated<number>;
	last_error: string | null;
	created_at: number;
	updated_at: number;
}

/** A device that holds, or held, one of the device slots of a pass. */
export interface DeviceSlotsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** `aa:bb:cc:dd:ee:ff`, from the gateway. */
	mac: string;
	bound_at: number;
	/** The gateway's last report that the device is there. */
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
	/** null where the report names no known pass. */
	pass_id: number | null;
	user_name: string | null;
	mac: string | null;
	ip: string | null;
	/** Address of the access server that reports it. */
	nas_address: string | null;
	nas_identifier: string | null;
	started_at: number;
	seen_at: number;
	stopped_at: number | null;
	stop_cause: string | null;
	/** The end that the gateway enforces (Session-Timeout). */
	told_until: number | null;
	/** From the device. */
	bytes_in: Generated<number>;
	/** To the device. */
	bytes_out: Generated<number>;
	disconnect_state: Generated<'none' | 'asked' | 'done' | 'failed'>;
	disconnect_attempts: Generated<number>;
	last_error: string | null;
	/** The part of `bytes_in` and `bytes_out` that network_usage contains. */
	booked_in: Generated<number>;
	booked_out: Generated<number>;
}

/** Data that went through a router on one day of the installation's reports. */
export interface NetworkUsageTable {
	router_id: number;
	/** YYYY-MM-DD */
	day: string;
	/** From devices. */
	bytes_in: number;
	/** To devices. */
	bytes_out: number;
}
