import type { Generated } from 'kysely';
import type { AccessKind } from '#lib/domain/access-kind.ts';

export interface SessionsTable {
	id: Generated<number>;
	account_id: number;
	router_id: number;
	status: 'pending_payment' | 'activating' | 'active' | 'expired' | 'ended' | 'cancelled';
	status_reason: string | null;
	duration: string;
	duration_seconds: number;
	payment_method: string;
	phone: string;
	amount_minor: number;
	currency: string;
	ssid: string;
	/** The payment that bought the time; until then, the newest one. */
	payment_id: number | null;
	/** The session whose pass the buyer asked to extend; null for a new pass. */
	extends_session_id: Generated<number | null>;
	/** null until it begins a pass of its own. */
	pass_id: Generated<number | null>;
	/** Copied from the router when the time was ordered. */
	access_kind: Generated<AccessKind>;
	max_devices: Generated<number>;
	/** The offer that was bought; null for time at the hourly price. */
	offer_id: Generated<number | null>;
	offer_name: Generated<string | null>;
	/** Limits of the offer; null without one. */
	speed_down_kbps: Generated<number | null>;
	speed_up_kbps: Generated<number | null>;
	data_limit_mb: Generated<number | null>;
	payment_due_at: number;
	starts_at: number | null;
	expires_at: number | null;
	ended_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface ExtraTimeTable {
	id: Generated<number>;
	session_id: number;
	/** The person who gave it. */
	account_id: number;
	/** Names the form. */
	form: string;
	seconds: number;
	created_at: number;
}

export interface PaymentsTable {
	id: Generated<number>;
	session_id: number;
	account_id: number;
	/** The adapter, e.g. `sandbox`. */
	operator: string;
	payment_method: string;
	/** UUID v4: our reference at the operator, stored before the call. */
	reference: string;
	/** The operator's own name of the request. */
	operator_reference: string | null;
	amount_minor: number;
	currency: string;
	phone: string;
	/** Keyed hash of the buyer's network, for the limits of prompts; null for the API. */
	network: Generated<string | null>;
	/** The same of the /56 and /48 of an IPv6 address. */
	network_56: Generated<string | null>;
	network_48: Generated<string | null>;
	/** Keyed hash of a device that a gateway redirected, in its network. */
	device: Generated<string | null>;
	status: 'pending' | 'success' | 'failed' | 'expired' | 'refund_pending' | 'refunded' | 'refund_failed';
	/** State of the request to the operator; decides whether it may be sent again. */
	submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
	submitted_at: number | null;
	/** Consecutive status reads that did not know the reference. */
	not_found_count: Generated<number>;
	/** 1 if it bought the session's time. */
	applied: Generated<number>;
	failure_code: string | null;
	failure_message: string | null;
	/** The operator's transaction id. */
	provider_reference: string | null;
	settled_minor: number | null;
	settled_currency: string | null;
	commission_basis_points: number;
	/** Claim of an authentic callback (CallbackClaim as JSON). */
	claim: string | null;
	/** When an import found it in the operator's statement. */
	statement_at: number | null;
	expires_at: number;
	paid_at: number | null;
	refunded_at: number | null;
	refund_reason: string | null;
	created_at: number;
	updated_at: number;
}

export interface RefundsTable {
	id: Generated<number>;
	payment_id: number;
	reference: string;
	amount_minor: number;
	currency: string;
	reason: string;
	status: 'pending' | 'succeeded' | 'failed';
	submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
	operator_reference: string | null;
	/** Claim of an authentic callback (CallbackClaim as JSON). */
	claim: string | null;
	submitted_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface OperatorMessagesTable {
	id: Generated<number>;
	payment_id: number;
	kind: 'submit' | 'status' | 'callback' | 'refund';
	/** Short result, e.g. `accepted`, `pending`, `succeeded`. */
	outcome: string;
	/** The operator's message, redacted and truncated. */
	raw: string | null;
	received_at: number;
}

/** Decisions about money that a person must make. */
export interface ReviewsTable {
	id: Generated<number>;
	/** null if a statement's transaction matches no payment. */
	payment_id: number | null;
	/** `payment 12`, or `mtn transaction 334455`. */
	subject: string;
	reason: string;
	detail: string | null;
	opened_at: number;
	resolved_at: number | null;
	resolved_by: string | null;
	decision: string | null;
	note: string | null;
}

/** Decisions that moved money or resolved a review. */
export interface AuditLogTable {
	id: Generated<number>;
	at: number;
	/** `reconciler`, `refunds`, `account` with its id, or a person's name from the command line. */
	actor: string;
	action: string;
	payment_id: number | null;
	refund_id: number | null;
	/** The router whose settings were changed. */
	router_id: Generated<number | null>;
	reason: string;
	/** JSON */
	before: string;
	/** JSON */
	after: string;
}
