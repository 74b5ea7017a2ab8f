import { isSupportedCountry } from 'libphonenumber-js/mobile';
import { z } from 'zod';
import type { AmountRule } from '#lib/domain/payment-methods.ts';
import type { Setting } from '#lib/server/config/setting.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { HttpClient } from '#lib/server/platform/http-client.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { PaymentBody } from '../../contract/payment.ts';
import type { SharedTokens } from './client.ts';

/**
 * Interface of a mobile-money operator. An adapter translates the operator's protocol; billing/ decides
 * about money. Network failures are outcomes, never exceptions: `uncertain` on submit (the request may have
 * arrived), `unavailable` on a read (nothing is known).
 */
export interface OperatorAdapter {
	readonly id: string;
	readonly capabilities: OperatorCapabilities;
	/** The only currency that it charges; any if absent. */
	readonly currency?: string;
	/** True if a number (E.164) has the form of its payers' numbers. */
	takesNumber(phone: string): boolean;
	/** The amounts that it charges by a method, or pays out, as far as known; `mobile_money` may be any of its methods. */
	amounts(method: string, isPayout?: boolean): AmountRule;
	/** Requests a payment. Never repeats a request that may have arrived. */
	submit(request: PaymentRequest): Promise<SubmitOutcome>;
	/** Reads the state of a payment. Safe to repeat. */
	readStatus(attempt: AttemptReference): Promise<StatusOutcome>;
	/**
	 * Asks for the amount and receipt of a success, at an operator whose status read names neither. `pending`: the answer comes
	 * to the callback address.
	 */
	readAmount?(attempt: AttemptReference & { callbackUrl: string }): Promise<StatusOutcome>;
	/** Parses a callback permissively and never throws. A callback decides nothing: it triggers the status read, and may add facts. */
	parseCallback(raw: RawCallback): Promise<CallbackHint>;
	/** Missing if the operator cannot refund. */
	refund?(refund: RefundRequest): Promise<SubmitOutcome>;
	readRefund?(refund: RefundRequest): Promise<StatusOutcome>;
	/** Sends money to an owner. Missing if the operator cannot, or has no keys for it. */
	disburse?(payout: PayoutRequest): Promise<SubmitOutcome>;
	readPayout?(payout: PayoutRequest): Promise<StatusOutcome>;
	/** Returns why the operator takes no payments now, or null. Moves no money. */
	health(): Promise<string | null>;
}

interface OperatorCapabilities {
	/** The operator's portal holds the callback address, and the body names the payment. */
	usesPortalCallback?: boolean;
	/** The response body that the operator expects; any 200 if absent. */
	callbackAnswer?: Readonly<Record<string, unknown>>;
	/** From the submit to the first status read. */
	minStatusDelaySeconds: number;
	/** `not_found` is final only after this time: operators may lag behind their acceptance. Default: 120. */
	notFoundFinalSeconds?: number;
	/** The status read of a refund only asks for a callback, so that `pending` says nothing. */
	refundsReportedByCallback?: boolean;
	/** A refund names the operator's transaction, not our reference. */
	refundsByTransaction?: boolean;
	/** True if the operator never charges a repeated reference twice. */
	resubmitSameReferenceSafe: boolean;
}

export interface PaymentRequest {
	/** UUID v4, created once per payment and stored before the call. */
	reference: string;
	amountMinor: number;
	currency: string;
	/** E.164 */
	payerPhone: string;
	/** The buyer's choice, e.g. `mtn_momo`; `mobile_money` leaves it open. */
	paymentMethod: string;
	description: string;
	/** Unguessable, one per payment. */
	callbackUrl: string;
	/** In ms since the epoch. */
	expiresAt: number;
}

export interface AttemptReference {
	reference: string;
	operatorReference: string | null;
	submittedAt: number | null;
	/** From a trusted callback, for operators whose status read contains less. */
	claim: CallbackClaim | null;
}

/** The amount taken, if the operator reports it. */
export interface MoneyTaken {
	amountMinor: number | null;
	currency: string | null;
}

/** With the operator's id of the transaction. */
export interface Paid extends MoneyTaken {
	providerReference: string | null;
}

interface CallbackFacts extends Paid {
	operatorReference: string | null;
}

export interface CallbackClaim extends CallbackFacts {
	claimed: 'succeeded' | 'failed';
}

/** `reference` is the refund's own UUID v4; the amount is the one to refund. */
export interface RefundRequest extends AttemptReference {
	amountMinor: number;
	currency: string;
	/** Unguessable, one per refund. */
	callbackUrl: string;
	payment: { reference: string; operatorReference: string | null; providerReference: string | null };
}

/** `reference` is a UUID v4; `phone` is E.164. */
export interface PayoutRequest extends AttemptReference {
	amountMinor: number;
	currency: string;
	phone: string;
	paymentMethod: string;
}

/** `merchant_error`: our account or settings are wrong. Buyers read `provider_error`. */
export type FailureReason = FailureCode | 'merchant_error';

export type SubmitOutcome =
	| { kind: 'accepted'; operatorReference: string | null; raw: string }
	/** The operator queued nothing. `retryable`: the same request may be sent after `retryAfterSeconds`. */
	| {
			kind: 'refused';
			reason: FailureReason;
			message: string;
			retryable: boolean;
			retryAfterSeconds?: number;
			raw: string;
	  }
	/** The operator may have queued it: only a status read can tell. */
	| { kind: 'uncertain'; raw: string };

export type StatusOutcome =
	| { kind: 'pending'; raw: string }
	| (Paid & {
			kind: 'succeeded';
			/** In ms since the epoch, if the operator reports it. */
			at?: number;
			/** If the payer paid another request of the payment than the one asked about. */
			operatorReference?: string;
			raw: string;
	  })
	| { kind: 'failed'; reason: FailureReason; message: string; raw: string }
	| { kind: 'not_found'; raw: string }
	/** The operator contradicts itself: a person must decide. */
	| { kind: 'contradiction'; message: string; raw: string }
	/** The operator's reference was lost, so no status read is possible; only a callback can tell. */
	| { kind: 'unreadable'; cause: string; raw?: string }
	/** Nothing is known about the payment. */
	| { kind: 'unavailable'; cause: string; retryAfterSeconds: number | null };

export interface RawCallback {
	method: string;
	/** As received, with the query. */
	path: string;
	/** Host that was called. */
	authority: string;
	/** Names in lower case. */
	headers: Record<string, string>;
	/** As it came, for signatures. */
	bytes: Uint8Array;
	/** The bytes as text. */
	body: string;
}

export interface CallbackHint extends CallbackFacts {
	claimed: 'succeeded' | 'failed' | 'pending' | 'unknown';
	/** `absent`: the operator does not authenticate callbacks. `invalid`: kept only as evidence. */
	authentic: 'verified' | 'absent' | 'invalid';
	/** Our reference, if the body names it. */
	reference: string | null;
}

/** Column names of an operator's list of settled payments (CSV). Only letters and digits count, in any case. */
export interface StatementColumns {
	/** Our reference, if the list contains it. */
	reference: readonly string[];
	/** Returns our reference, or its start, from a cell that has it in a shorter form; null for others. */
	referenceStart?(cell: string): string | null;
	/** The operator's transaction id. */
	providerReference: readonly string[];
	/** In major units. */
	amount: readonly string[];
	/** The column that marks settled rows, with the values that mean settled. */
	status: { names: readonly string[]; settled: readonly string[] } | null;
}

/** Defines a mobile-money operator. Each operator's file exports one, and registry.ts lists it. */
export interface OperatorDefinition<Values = never> {
	/** Stored with payments and part of callback addresses, e.g. `mtn`: never change it. */
	readonly id: string;
	/** Display name, e.g. `MTN MoMo`. */
	readonly name: string;
	/** Variables with one prefix. Setting one configures the operator; then all required ones must be set. */
	readonly settings: Readonly<Record<string, Setting>>;
	methods(values: Values): readonly string[];
	/** Calls back only https addresses; payments need its callbacks. */
	readonly needsHttps?: true;
	/** Returns problems between values: sentences that begin with the variable's name. */
	check?(values: Values, installation: Installation): Problems;
	create(values: Values, dependencies: OperatorDependencies): OperatorAdapter;
	readonly statement: StatementColumns;
}

export interface Installation {
	mode: 'sandbox' | 'live';
	/** ISO 4217 code of all prices. */
	currency: string;
	/** Without a trailing slash. */
	callbackUrl: string;
}

export interface OperatorDependencies extends Installation {
	clock: Clock;
	log: Log;
	http: HttpClient;
	/** null: each process has its own. */
	tokens: SharedTokens | null;
}

export interface ConfiguredOperator extends Pick<OperatorDefinition, 'id' | 'name' | 'statement'> {
	readonly methods: readonly string[];
	create(dependencies: OperatorDependencies): OperatorAdapter;
}

export type ValuesOf<Settings extends Record<string, Setting>> = {
	[Name in keyof Settings]: z.output<Settings[Name]['schema']>;
};

/** Infers the type of a definition's values from its settings. */
export const defineOperator = <const Settings extends Record<string, Setting>>(
	definition: OperatorDefinition<ValuesOf<Settings>> & { readonly settings: Settings }
): OperatorDefinition => definition;

export const baseUrl = z
	.url({ protocol: /^https?$/, error: 'Use an address such as "https://api.example".' })
	.transform((text) => text.replace(/\/+$/, ''));

export const onOff = z.enum(['on', 'off'], 'Use "on" or "off".');

export const credential = z.string().regex(/^\S(.*\S)?$/, 'Remove the spaces around it.');

export const countryCode = z.string().refine(isSupportedCountry, 'Use an ISO 3166 code such as "UG".');

/** Sentences about settings; false where there is no problem. */
type Problems = (string | false)[];

/**
 * Checks an operator's address: real and test money do not mix, and live calls are encrypted.
 * @param name the variable
 * @param hosts of the operator that move `real` money, and those of its `test` system
 */
export function checkAddress(
	name: string,
	address: string,
	{ mode }: Installation,
	hosts: { real: RegExp; test?: RegExp }
): Problems {
	const { protocol, hostname } = new URL(address);
	const host = hostname.replace(/\.$/, '');
	if (mode === 'sandbox') {
		return [hosts.real.test(host) && `${name}: takes real money, which AIRTILL_MODE=sandbox must not.`];
	}
	return [
		protocol !== 'https:' && `${name}: must be https in live mode.`,
		hosts.test?.test(host) === true && `${name}: is a test system, which is refused in live mode.`
	];
}

export type FailureCode = NonNullable<PaymentBody['failure_code']>;

export const failureCode = (reason: FailureReason): FailureCode =>
	reason === 'merchant_error' ? 'provider_error' : reason;

/** Sentences for people; the operator's own words stay in its messages. */
export const FAILURE_MESSAGES: Record<FailureCode, string> = {
	payer_rejected: 'The payer declined the payment, or the PIN was wrong.',
	insufficient_funds: 'The payer does not have enough money on this number.',
	payer_not_found: 'The number has no mobile-money account with this operator.',
	payer_limit_reached: "The payment is beyond the payer's limit with the operator.",
	payer_timeout: 'The payer did not approve the payment in time.',
	provider_unavailable: 'The operator is not available now.',
	provider_error: 'The operator could not make the payment.'
};
