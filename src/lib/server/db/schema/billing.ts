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
	/** The payment that bought the time; before that, the newest one that was started for it. */
	payment_id: number | null;
	/** The session whose pass this one was ordered to lengthen; null for a pass of its own. */
	extends_session_id: Generated<number | null>;
	/** The pass whose time it buys; null until it begins a pass of its own. */
	pass_id: Generated<number | null>;
	/** As the router had it when the time was ordered. */
	access_kind: Generated<AccessKind>;
	max_devices: Generated<number>;
	payment_due_at: number;
	starts_at: number | null;
	expires_at: number | null;
	ended_at: number | null;
	created_at: number;
	updated_at: number;
}

export interface PaymentsTable {
	id: Generated<number>;
	session_id: number;
	account_id: number;
	/** Adapter that carries the payment, e.g. `sandbox`. */
	operator: string;
	payment_method: string;
	/** UUID v4, our reference at the operator: stored before the operator is called. */
	reference: string;
	/** The operator's own reference of the request, where it has one. */
	operator_reference: string | null;
	amount_minor: number;
	currency: string;
	phone: string;
	status: 'pending' | 'success' | 'failed' | 'expired' | 'refund_pending' | 'refunded' | 'refund_failed';
	/** How far the request to the operator got; decides whether it may be sent (again). */
	submit_state: 'created' | 'submitting' | 'accepted' | 'refused' | 'uncertain';
	submitted_at: number | null;
	/** Status reads in a row that did not know the reference. */
	not_found_count: Generated<number>;
	applied: Generated<number>;
	failure_code: string | null;
	failure_message: string | null;
	/** The operator's id of the settled transaction. */
	provider_reference: string | null;
	/** What the operator says it took, when it says so. */
	settled_minor: number | null;
	settled_currency: string | null;
	commission_basis_points: number;
	/** What an authentic callback claimed (CallbackClaim as JSON). */
	claim: string | null;
	/** When it was found in the operator's list of settled payments. */
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
	/** What an authentic callback claimed (CallbackClaim as JSON). */
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
	/** What the operator sent, redacted and cut. */
	raw: string | null;
	received_at: number;
}

/** What a person must decide. */
export interface ReviewsTable {
	id: Generated<number>;
	/** null: about a transaction of a statement that no payment belongs to. */
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

/** Every decision that moved money or ended a question about it. */
export interface AuditLogTable {
	id: Generated<number>;
	at: number;
	/** Who: `reconciler`, `refunds`, or a person's name from the command line. */
	actor: string;
	action: string;
	payment_id: number | null;
	refund_id: number | null;
	reason: string;
	/** JSON */
	before: string;
	/** JSON */
	after: string;
}
