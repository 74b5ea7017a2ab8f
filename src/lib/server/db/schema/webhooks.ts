import type { Generated } from 'kysely';

export interface WebhookEndpointsTable {
	id: Generated<number>;
	account_id: number;
	/** As registered. */
	url: string;
	/** The normalised URL, to which deliveries go. Unique per account. */
	address: string;
	/** JSON array of event names, as JSON.stringify writes it. */
	events: string;
	status: 'active' | 'disabled';
	/** `gone`: the receiver answered 410; `failing`: no success for five days; `manual`: the account disabled it. */
	disabled_reason: 'gone' | 'failing' | 'manual' | null;
	secret_sealed: string;
	/** Signs until `old_secret_until`, after a rotation. */
	old_secret_sealed: string | null;
	old_secret_until: number | null;
	/** Precise to a minute. */
	last_success_at: number | null;
	/** First failed attempt since the last success. */
	failing_since: number | null;
	failing_noticed: Generated<number>;
	notice: 'failing' | 'disabled' | null;
	notice_lease_until: number | null;
	created_at: number;
	updated_at: number;
}

export interface WebhookDeliveriesTable {
	id: Generated<number>;
	endpoint_id: number;
	/** `evt_<ULID>`; a test has no row in `events`. */
	event_id: string;
	type: string;
	/** The bytes to send, sealed because they may contain a phone number. */
	body_sealed: string;
	status: 'pending' | 'delivered' | 'failed';
	attempts: Generated<number>;
	/** Attempts since its creation or last replay; they decide the next delay. */
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
	failure: string | null;
	/** Beginning of the response body, redacted. */
	response: string | null;
}
