/**
 * The interface of a mobile-money operator. An adapter translates one operator's protocol to these types and decides
 * nothing about money: payments/ does. Network failures are never exceptions; they are `uncertain` on submit (the
 * request may have arrived) and `unavailable` on a read (nothing is known).
 */
export interface OperatorAdapter {
	readonly id: string;
	readonly capabilities: OperatorCapabilities;
	/** True if the form of a number (E.164) allows it to be one of its payers. */
	takesNumber(phone: string): boolean;
	/** Reasons, in sentences, why the operator cannot take such a payment, without network calls; empty if it can. */
	validate(terms: PaymentTerms): string[];
	/** Requests a payment. Sends exactly one POST (besides the token's) and never retries it. */
	submit(request: PaymentRequest): Promise<SubmitOutcome>;
	/** Reads the state of a payment. Safe to repeat. */
	readStatus(attempt: AttemptReference): Promise<StatusOutcome>;
	/**
	 * Parses a callback permissively. A callback only triggers the status read; it never moves money. Never throws.
	 */
	parseCallback(raw: RawCallback): Promise<CallbackHint>;
	/** Refunds a settled payment. Missing if the operator cannot. */
	refund?(request: RefundRequest): Promise<SubmitOutcome>;
	readRefund?(refund: RefundReference): Promise<StatusOutcome>;
	/** Checks whether the operator answers; moves no money. */
	health(): Promise<{ ok: boolean; reason: string | null }>;
}

export interface OperatorCapabilities {
	/** The callback address is entered in the operator's portal, and the body names the payment. */
	usesPortalCallback?: boolean;
	/** The response body that the operator expects; without it any 200 is accepted. */
	callbackAnswer?: Readonly<Record<string, unknown>>;
	/** Seconds after the submit before the first status read. */
	minStatusDelaySeconds: number;
	/** Seconds by which an operator may lag behind its own acceptance; `not_found` is final only after it. Default: 120. */
	notFoundFinalSeconds?: number;
	/** True if the operator recognises a repeated reference and never charges twice. */
	resubmitSameReferenceSafe: boolean;
}

export interface PaymentTerms {
	amountMinor: number;
	currency: string;
	/** E.164 */
	payerPhone: string;
}

export interface PaymentRequest extends PaymentTerms {
	/** UUID v4, created once per payment and stored before the call. */
	reference: string;
	/** As the buyer chose it, e.g. `mtn_momo`, for operators with several networks; `mobile_money` leaves the choice open. */
	paymentMethod: string;
	description: string;
	/** Unguessable, one per payment. */
	callbackUrl: string;
	/** When the payment expires here, in ms since the epoch. */
	expiresAt: number;
}

export interface AttemptReference {
	reference: string;
	operatorReference: string | null;
	submittedAt: number | null;
	/** The amount requested. */
	amountMinor: number;
	currency: string;
	/** Claim of an authentic callback, for operators whose status read contains less than their callback. */
	claim: CallbackClaim | null;
}

interface CallbackFacts {
	/** The operator's reference in the callback. */
	operatorReference: string | null;
	providerReference: string | null;
	amountMinor: number | null;
	currency: string | null;
}

export interface CallbackClaim extends CallbackFacts {
	claimed: 'succeeded' | 'failed';
}

/** `reference` is the UUID v4 of the refund itself; the amount is the one to refund. */
export interface RefundReference extends AttemptReference {
	/** The request's callback address, for operators that answer a status read by a callback. */
	callbackUrl: string;
	payment: { reference: string; operatorReference: string | null; providerReference: string | null };
}

export interface RefundRequest extends PaymentTerms {
	/** UUID v4 of the refund itself. */
	reference: string;
	payment: RefundReference['payment'];
	/** Unguessable, one per refund. */
	callbackUrl: string;
}

export type FailureReason =
	| 'insufficient_funds'
	| 'payer_declined'
	| 'wrong_pin'
	| 'payer_timeout'
	| 'payer_limit'
	| 'payer_blocked'
	| 'invalid_payer'
	| 'provider_busy'
	| 'provider_error'
	| 'merchant_error'
	| 'unknown_reason';

export type SubmitOutcome =
	| { kind: 'accepted'; operatorReference: string | null; raw: string }
	/** The operator queued nothing. `retryable`: the same request may be sent again, not before this time. */
	| {
			kind: 'refused';
			reason: FailureReason;
			message: string;
			retryable: boolean;
			retryAfterSeconds?: number;
			raw: string;
	  }
	/** The operator may have queued it: only a status read can tell. */
	| { kind: 'uncertain'; cause: 'timeout' | 'network' | '5xx' | 'unparsable' | 'duplicate'; raw: string };

export type StatusOutcome =
	| { kind: 'pending'; raw: string }
	| {
			kind: 'succeeded';
			providerReference: string | null;
			/** The amount taken, if the operator reports it. */
			amountMinor: number | null;
			currency: string | null;
			/** In ms since the epoch, if the operator reports it. */
			at: number | null;
			raw: string;
	  }
	| { kind: 'failed'; reason: FailureReason; message: string; raw: string }
	| { kind: 'not_found'; raw: string }
	/** The status read contradicts an authentic callback: a person must decide. */
	| { kind: 'contradiction'; message: string; raw: string }
	/** The operator's reference was lost with its answer, so no status read is possible; only a callback can tell. */
	| { kind: 'unreadable'; cause: string }
	/** Nothing is known about the payment. */
	| { kind: 'unavailable'; cause: string; retryAfterSeconds: number | null };

export interface RawCallback {
	method: string;
	/** Path and query as they came. */
	path: string;
	/** Host that was called. */
	authority: string;
	/** Names in lower case. */
	headers: Record<string, string>;
	/** The bytes as UTF-8. */
	body: string;
}

export interface CallbackHint extends CallbackFacts {
	claimed: 'succeeded' | 'failed' | 'pending' | 'unknown';
	/** `absent`: the operator does not authenticate callbacks. `invalid`: the callback is only kept as evidence. */
	authentic: 'verified' | 'absent' | 'invalid';
	/** Our reference, if the body names it. */
	reference: string | null;
}

/** Column names of an operator's list of settled payments (CSV), most common first. */
export interface StatementColumns {
	/** Our reference of the payment, if the list contains it. */
	reference: readonly string[];
	/** Returns the beginning of our reference from a cell that is too short for all of it; null for others. */
	referenceStart?(cell: string): string | null;
	/** The operator's transaction id. */
	providerReference: readonly string[];
	/** In major units. */
	amount: readonly string[];
	/** The column that tells settled rows from others, with the values that mean settled. */
	status: { names: readonly string[]; settled: readonly string[] } | null;
}
