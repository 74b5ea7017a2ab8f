import type { Generated } from 'kysely';

/** What a gateway has been told about one pass (and one device, where it lets in devices): the truth is the pass. */
export interface AccessGrantsTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** The visit that brought the device: what the gateway handed over with it. */
	visit_id: number | null;
	/** null where the gateway is told of a user, whatever the device. */
	mac: string | null;
	/**
	 * `granting`: to be let in, maybe is. `granted`: is in until `until_at`. `revoking`: to be put out, maybe is.
	 * `revoked`: is out. `failed`: could not be put out; the gateway does so by itself at `until_at`.
	 */
	state: 'granting' | 'granted' | 'revoking' | 'revoked' | 'failed';
	/** The end that the gateway was told. */
	until_at: number | null;
	/** The last end that it has said it knows; what it was asked without an answer is not in it. */
	confirmed_until_at: Generated<number | null>;
	granted_at: number | null;
	/** When it was wanted no longer though the pass runs: another device took its place, or nobody could be let in. */
	released_at: number | null;
	revoked_at: number | null;
	/** When its gateway was last asked to let it in and has not confirmed that: it may do so, or have done so. */
	asked_at: number | null;
	/** Goes up when it has to be told anew: what was told before does not count then. */
	revision: Generated<number>;
	/** 0 where it was made before users said which installation they are of. */
	is_marked: Generated<number>;
	attempts: Generated<number>;
	last_error: string | null;
	created_at: number;
	updated_at: number;
}

/** A device that a pass let online, proved by its gateway. */
export interface AccessDevicesTable {
	id: Generated<number>;
	pass_id: number;
	gateway_id: number;
	/** `aa:bb:cc:dd:ee:ff`, as the gateway says. */
	mac: string;
	bound_at: number;
	/** When the gateway last said that it is there. */
	seen_at: number;
	released_at: number | null;
}

/** One connection of a device as a gateway accounts for it (RFC 2866). */
export interface NetworkSessionsTable {
	id: Generated<number>;
	gateway_id: number;
	acct_session_id: string;
	/** null where it is not known who it is. */
	pass_id: number | null;
	user_name: string | null;
	mac: string | null;
	ip: string | null;
	/** Where the gateway can be asked to end it. */
	nas_address: string | null;
	nas_identifier: string | null;
	started_at: number;
	seen_at: number;
	stopped_at: number | null;
	stop_cause: string | null;
	/** The end that the gateway was told (Session-Timeout). */
	told_until: number | null;
	/** From the device. */
	bytes_in: Generated<number>;
	/** To the device. */
	bytes_out: Generated<number>;
	disconnect_state: Generated<'none' | 'asked' | 'done' | 'failed'>;
	disconnect_attempts: Generated<number>;
	last_error: string | null;
	/** How much of `bytes_in` and `bytes_out` stands in network_usage. */
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
