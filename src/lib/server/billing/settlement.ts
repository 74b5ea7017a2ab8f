import { LIMIT_CONCURRENCY, type Queries, type Tx, afterCommit } from '#lib/server/db/database.ts';
import type { EventType } from '#lib/server/events.ts';
import type { CallbackClaim, StatusOutcome } from './operators/operator.ts';
import { paymentBody } from './payments.ts';
import { claimOf } from './callbacks.ts';
import type { BillingJob, BillingServices } from './context.ts';
import { FAILURE_MESSAGES, type FailureCode } from './operators/outcomes.ts';
import { startRefund } from './refunds.ts';
import * as store from './payment-store.ts';

/**
 * Transitions of the payment state machine. Each changes the row only from the states that it may follow. Its
 * consequences (time, refund, event) share the transaction. Only a refund can follow a success.
 */

export type Succeeded = Extract<StatusOutcome, { kind: 'succeeded' }>;

/** States in which the payer has not been charged, as far as we know. */
const UNPAID = ['pending', 'failed', 'expired'] as const;

/** For the audit log. */
export interface Decider {
	actor: string;
	reason: string;
}

const auditedFields = (row: store.PaymentRow) => ({
	status: row.status,
	applied: row.applied,
	refund_reason: row.refund_reason,
	provider_reference: row.provider_reference
});

/** Records an event, and after the commit wakes the requests that wait for the payment. */
export async function recordPaymentEvent(
	context: BillingServices,
	trx: Tx,
	type: EventType,
	row: store.PaymentRow
): Promise<void> {
	const session = await context.sessions.findOrThrow(trx, row.session_id);
	const { id, session_id, ...rest } = paymentBody(row);
	await context.events.record(trx, {
		type,
		accountId: row.account_id,
		routerId: session.router_id,
		sessionId: row.session_id,
		paymentId: row.id,
		data: { id, session_id, router_id: session.router_id, ...rest }
	});
	afterCommit(trx, () => context.changes.announce(row.id));
}

/** Settles a payment that the operator calls paid: `applySuccess` in a transaction of its own. */
export const settleSuccess = (context: BillingJob, id: number, outcome: Succeeded): Promise<boolean> =>
	context.database.transact(
		(trx) => applySuccess(context, trx, id, outcome, decider('the operator says that the payer paid')),
		LIMIT_CONCURRENCY
	);

/**
 * Settles a payment that took no money: `applyFailure` in a transaction of its own.
 * @param reason for the audit log
 */
export const settleFailure = (
	context: BillingJob,
	id: number,
	code: FailureCode,
	reason = 'the operator says that nothing was paid'
): Promise<boolean> =>
	context.database.transact(
		(trx) => applyFailure(context, trx, id, code, decider(reason)),
		LIMIT_CONCURRENCY
	);

/** Expires a payment without an answer in time. Reads continue. */
export const settleExpired = (context: BillingJob, id: number): Promise<boolean> =>
	context.database.transact(
		(trx) => endUnpaid(context, trx, id, 'expired', 'payer_timeout', decider('no final answer in time')),
		LIMIT_CONCURRENCY
	);

const decider = (reason: string): Decider => ({ actor: 'reconciler', reason });

/** Settles a successful payment: buys the session's time or refunds it. Returns false if already settled. */
export async function applySuccess(
	context: BillingServices,
	trx: Tx,
	id: number,
	outcome: Succeeded,
	by: Decider
): Promise<boolean> {
	const now = context.clock.now();
	const before = await store.findOrThrow(trx, id);
	const changed = await store.change(
		trx,
		{ id, status: UNPAID },
		{
			status: 'success',
			// The operator's clock may be wrong; the payment happened between its start and now.
			paid_at: Math.min(now, Math.max(before.created_at, outcome.at ?? now)),
			provider_reference: outcome.providerReference,
			...(outcome.operatorReference && { operator_reference: outcome.operatorReference }),
			settled_minor: outcome.amountMinor,
			settled_currency: outcome.currency,
			failure_code: null,
			failure_message: null,
			updated_at: now
		}
	);
	if (!changed) return false;
	await reviewUsedTransaction(context, trx, changed, outcome.providerReference);
	const payment = await storeCallbackFacts(context, trx, changed);
	const refundReason = differsFromRequested(payment)
		? 'amount_mismatch'
		: await context.sessions.activate(trx, payment.session_id, id);
	if (refundReason === null) {
		const applied = await store.change(trx, { id, status: ['success'] }, { applied: 1 });
		if (!applied) throw new Error(`Payment ${id} changed inside its own transaction`);
		await recordPaymentEvent(context, trx, 'payment.success', applied);
	} else {
		await recordPaymentEvent(context, trx, 'payment.success', payment);
		await startRefund(context, trx, payment, refundReason);
	}
	await context.audit.record(trx, {
		...by,
		action: refundReason === null ? 'payment.success' : 'payment.success, not applied',
		paymentId: id,
		reason: refundReason === null ? by.reason : `${by.reason}; it buys nothing: ${refundReason}`,
		before: auditedFields(before),
		after: auditedFields(await store.findOrThrow(trx, id))
	});
	return true;
}

/**
 * Opens a review if a transaction has already paid another payment. The payment settles all the same: the operator answers
 * for our own reference, and several networks of pawaPay can give the same id.
 * @returns whether it opened a review
 */
export async function reviewUsedTransaction(
	{ reviews }: Pick<BillingServices, 'reviews'>,
	queries: Queries,
	payment: store.PaymentRow,
	transaction: string | null
): Promise<boolean> {
	const other = transaction ? await store.paidBefore(queries, payment, transaction) : undefined;
	if (!other) return false;
	const detail = `transaction ${transaction} has already paid payment ${other.id}`;
	await reviews.open(queries, payment.id, 'contradiction', detail);
	return true;
}

/** Adds what only a callback reported. `payment` is the row that the change returned, so it holds the newest claim. */
async function storeCallbackFacts(
	context: BillingServices,
	trx: Tx,
	payment: store.PaymentRow
): Promise<store.PaymentRow> {
	const claim = claimOf(payment);
	if (claim?.claimed !== 'succeeded') return payment;
	if (isOfAnotherRequest(payment, claim)) {
		await reviewSecondCharge(context, trx, payment, claim);
		return payment;
	}
	let { provider_reference: transaction } = payment;
	if (
		transaction === null &&
		!(await reviewUsedTransaction(context, trx, payment, claim.providerReference))
	) {
		transaction = claim.providerReference;
	}
	const claimed = {
		provider_reference: transaction,
		settled_minor: payment.settled_minor ?? claim.amountMinor,
		settled_currency: payment.settled_currency ?? claim.currency
	};
	return (await store.change(trx, { id: payment.id, status: ['success'] }, claimed)) ?? payment;
}

type Facts = Pick<CallbackClaim, 'operatorReference' | 'providerReference'>;

/** Names a request in the text of a review. */
export const requestName = ({ operatorReference, providerReference }: Facts): string =>
	[operatorReference && `request ${operatorReference}`, providerReference && `receipt ${providerReference}`]
		.filter(Boolean)
		.join(', ');

/** A payment that was sent twice has two requests at an operator that names them itself. */
export const isOfAnotherRequest = (
	{ operator_reference: own }: Pick<store.PaymentRow, 'operator_reference'>,
	{ operatorReference: named }: Facts
): boolean => own !== null && named !== null && named !== own;

/** Opens a review about a request that a callback calls paid, beside the one that paid the payment. */
export async function reviewSecondCharge(
	{ reviews }: Pick<BillingServices, 'reviews'>,
	queries: Queries,
	payment: store.PaymentRow,
	other: Facts
): Promise<void> {
	const settled = isOfAnotherRequest(payment, other)
		? `request ${payment.operator_reference}`
		: `receipt ${payment.provider_reference}`;
	const detail = `${settled} settled the payment, and a callback says that the payer paid twice: also ${requestName(other)}`;
	await reviews.open(queries, payment.id, 'contradiction', detail);
}

function differsFromRequested(payment: store.PaymentRow): boolean {
	if (payment.settled_minor !== null && payment.settled_minor !== payment.amount_minor) return true;
	return payment.settled_currency !== null && payment.settled_currency !== payment.currency;
}

/** Fails a pending payment. An expired one stays expired and gets the reason. Returns false if unchanged. */
export async function applyFailure(
	context: BillingServices,
	trx: Tx,
	id: number,
	code: FailureCode,
	by: Decider
): Promise<boolean> {
	if (await endUnpaid(context, trx, id, 'failed', code, by)) return true;
	const reason = failureFields(context, code);
	return (await store.change(trx, { id, status: ['expired'] }, reason)) !== undefined;
}

const failureFields = ({ clock }: BillingServices, code: FailureCode) => ({
	failure_code: code,
	failure_message: FAILURE_MESSAGES[code],
	updated_at: clock.now()
});

async function endUnpaid(
	context: BillingServices,
	trx: Tx,
	id: number,
	status: 'failed' | 'expired',
	code: FailureCode,
	by: Decider
): Promise<boolean> {
	const to = { status, ...failureFields(context, code) };
	const payment = await store.change(trx, { id, status: ['pending'] }, to);
	if (!payment) return false;
	await recordPaymentEvent(context, trx, 'payment.failed', payment);
	await context.audit.record(trx, {
		...by,
		action: `payment.${status}`,
		paymentId: id,
		reason: `${by.reason}: ${code}`,
		before: { status: 'pending' },
		after: { status, failure_code: code }
	});
	return true;
}
