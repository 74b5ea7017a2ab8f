/**
 * What Airtill asks of a mobile-money operator. An adapter translates one operator's protocol to these types
 * and decides nothing about money: the payments noun does. Network trouble is never an exception here; it is
 * `uncertain` on submit (the request may have arrived) and `unavailable` on a read (nothing was learnt).
 */
export interface OperatorAdapter {
	readonly id: string;
	readonly capabilities: OperatorCapabilities;
	/** Whether a number (E.164) can be one of its payers, as far as its form tells. */
	takesNumber(phone: string): boolean;
	/** Why the operator cannot carry such a payment, in sentences, found without the network; empty when it can. */
	validate(request: Pick<PaymentRequest, 'amountMinor' | 'currency' | 'payerPhone'>): string[];
	/** Asks the payer to pay. Exactly one network POST (beside a token); never retries that POST. */
	submit(request: PaymentRequest): Promise<SubmitOutcome>;
	/** Asks for the state of a payment. Safe to repeat. */
	readStatus(attempt: AttemptReference): Promise<StatusOutcome>;
	/**
	 * Reads what a callback claims, as permissively as it can. A callback only wakes the status read; it never moves
	 * money. Never throws.
	 */
	parseCallback(raw: RawCallback): Promise<CallbackHint>;
	/** Sends the money of a settled payment back. Present when capabilities.refund is not `none`. */
	refund?(request: RefundRequest): Promise<SubmitOutcome>;
	readRefund?(refund: RefundReference): Promise<StatusOutcome>;
	/** Whether the operator answers; moves no money. */
	health(): Promise<{ ok: boolean; reason: string | null }>;
}

export interface OperatorCapabilities {
	/** What the operator lets us choose as its reference of the request. */
	clientReference: 'uuid' | 'string' | 'none';
	statusByOurReference: boolean;
	statusReturnsAmount: boolean;
	callback: {
		methods: readonly ('POST' | 'PUT')[];
		authenticity: 'none' | 'hmac' | 'signature';
		/** false: the address is entered in the operator's portal, and the body names the payment. */
		perRequestUrl: boolean;
		/** What the operator wants to read; null when any 200 will do. */
		answer: Readonly<Record<string, unknown>> | null;
	};
	refund: 'none' | 'full' | 'partial';
	payerCheck: boolean;
	/** Seconds the payer has to approve. */
	approvalWindowSeconds: number;
	/** Seconds after the submit before which a status read makes no sense. */
	minStatusDelaySeconds: number;
	/** How long an operator may lag behind its own acceptance: only after it is `not_found` final. Default: 120. */
	notFoundFinalSeconds?: number;
	/** Sending the same reference again is recognised by the operator and never charges twice. */
	resubmitSameReferenceSafe: boolean;
}

export interface PaymentRequest {
	/** UUID v4, minted once per payment and stored before the call. */
	reference: string;
	amountMinor: number;
	currency: string;
	/** E.164 */
	payerPhone: string;
	/** As the buyer chose it, e.g. `mtn_momo`, for operators that carry several networks; `mobile_money` leaves it to us. */
	paymentMethod: string;
	description: string;
	/** Unguessable, one per payment. */
	callbackUrl: string;
	/** Epoch milliseconds after which the payment shows as expired on our side. */
	expiresAt: number;
}

export interface AttemptReference {
	reference: string;
	operatorReference: string | null;
	submittedAt: number | null;
	/** What we asked for. */
	amountMinor: number;
	currency: string;
	/** What an authentic callback claimed about it, for operators whose status read says less than their callback. */
	claim: CallbackClaim | null;
}

export interface CallbackClaim {
	claimed: 'succeeded' | 'failed';
	/** The operator's reference that the callback named. */
	operatorReference: string | null;
	providerReference: string | null;
	amountMinor: number | null;
	currency: string | null;
}

export interface RefundReference {
	/** UUID v4 of the refund itself. */
	reference: string;
	operatorReference: string | null;
	submittedAt: number | null;
	/** What we asked to be sent back. */
	amountMinor: number;
	currency: string;
	/** What an authentic callback claimed about it. */
	claim: CallbackClaim | null;
	/** That of the request, for operators that answer a status read later, at an address. */
	callbackUrl?: string;
	payment: { reference: string; operatorReference: string | null; providerReference: string | null };
}

export interface RefundRequest {
	/** UUID v4 of the refund itself. */
	reference: string;
	payment: RefundReference['payment'];
	/** Unguessable, one per refund. */
	callbackUrl: string;
	amountMinor: number;
	currency: string;
	payerPhone: string;
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
	/** Certainly nothing was queued. `retryable`: the same request may be sent again later, at the earliest then. */
	| {
			kind: 'refused';
			reason: FailureReason;
			message: string;
			retryable: boolean;
			retryAfterSeconds?: number;
			raw: string;
	  }
	/** It may have been queued or not: only a status read can tell. */
	| { kind: 'uncertain'; cause: 'timeout' | 'network' | '5xx' | 'unparsable' | 'duplicate'; raw: string };

export type StatusOutcome =
	| { kind: 'pending'; raw: string }
	| {
			kind: 'succeeded';
			providerReference: string | null;
			/** What the operator took, where it says so. */
			amountMinor: number | null;
			currency: string | null;
			/** Epoch milliseconds, where the operator says so. */
			at: number | null;
			raw: string;
	  }
	| { kind: 'failed'; reason: FailureReason; message: string; raw: string }
	| { kind: 'not_found'; raw: string }
	/** The status read denies what an authentic callback claimed: a person must look. */
	| { kind: 'contradiction'; message: string; raw: string }
	/** The operator's reference was lost with its answer, so it cannot be asked; only a callback can tell. */
	| { kind: 'unreadable'; cause: string }
	/** Says nothing about the payment. */
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

export interface CallbackHint {
	claimed: 'succeeded' | 'failed' | 'pending' | 'unknown';
	/** `absent`: nothing in it proves the sender (and nothing has to). `invalid`: it changes nothing. */
	authentic: 'verified' | 'absent' | 'invalid';
	/** Our reference, where the body names it; the address names it too when it is made per payment. */
	reference: string | null;
	operatorReference: string | null;
	providerReference: string | null;
	amountMinor: number | null;
	currency: string | null;
}

/** Names of the columns of an operator's list of settled payments (CSV), most usual first. */
export interface StatementColumns {
	/** Our reference of the payment, where the operator repeats it. */
	reference: readonly string[];
	/** The start of our reference that such a cell carries, where it has no room for all of it; null for others. */
	referenceStart?(cell: string): string | null;
	/** The operator's id of the settled transaction. */
	providerReference: readonly string[];
	/** In major units. */
	amount: readonly string[];
	/** Says whether the row settled, where the list has others as well; with the values that mean that it did. */
	status: { names: readonly string[]; settled: readonly string[] } | null;
}
