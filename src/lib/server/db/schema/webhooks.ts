import type { Generated } from 'kysely';

export interface WebhookEndpointsTable {
	id: Generated<number>;
	account_id: number;
	/** As it was registered. */
	url: string;
	/** The same, normalised: where deliveries go, and unique for the account. */
	address: string;
	/** JSON array of event names, as JSON.stringify writes it. */
	events: string;
	status: 'active' | 'disabled';
	/** `gone`: it answered 410; `failing`: five days without a success; `manual`: its account did it. */
	disabled_reason: 'gone' | 'failing' | 'manual' | null;
	secret_sealed: string;
	/** The secret before the last rotation, and until when it signs too. */
	old_secret_sealed: string | null;
	old_secret_until: number | null;
	/** Exact to a minute. */
	last_success_at: number | null;
	/** First failed attempt since the last success. */
	failing_since: number | null;
	/** 1: its account was told that it fails. */
	failing_noticed: Generated<number>;
	/** What its account is still to be told. */
	notice: 'failing' | 'disabled' | null;
	notice_lease_until: number | null;
	created_at: number;
	updated_at: number;
}

export interface WebhookDeliveriesTable {
	id: Generated<number>;
	endpoint_id: number;
	/** `evt_<ULID>`; the event itself has no row when it is a test. */
	event_id: string;
	type: string;
	/** The bytes to send, sealed: there may be a phone number in them. */
	body_sealed: string;
	status: 'pending' | 'delivered' | 'failed';
	/** All attempts so far. */
	attempts: Generated<number>;
	/** Attempts since it was made or last replayed: they decide how long the next one waits. */
	tries: Generated<number>;
	next_attempt_at: number | null;
	last_status_code: number | null;
	last_failure: string | null;
	last_attempt_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface WebhookAttemptsTable {
	id: Generated<number>;
	delivery_id: number;
	started_at: number;
	duration_ms: number;
	status_code: number | null;
	/** Why there is no status. */
	failure: string | null;
	/** Beginning of the answer's body, redacted. */
	response: string | null;
}
