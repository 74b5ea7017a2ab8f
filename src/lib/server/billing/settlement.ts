import { formatMinor } from '#lib/domain/money.ts';
import type { Base } from '../base.ts';
import { type Queries, type Tx } from '../db/database.ts';
import {
	type CallbackClaim,
	FAILURE_MESSAGES,
	type FailureCode,
	type StatusOutcome
} from './operators/operator.ts';
import {
	type BillingJob,
	type BillingServices,
	type PaymentRow,
	changePayment,
	findPaymentOrThrow,
	isOfAnotherRequest,
	lockPayment,
	lockTransaction,
	parseClaim,
	recordPaymentEvent
} from './payments.ts';
import { startRefund } from './refunds.ts';
import { closeAmountUnknown, openReview } from './reviews.ts';
import { activateSession, lockSession } from './sessions.ts';

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

const pickAudited = (row: PaymentRow) => ({
	status: row.status,
	applied: row.applied,
	refund_reason: row.refund_reason,
	provider_reference: row.provider_reference
});

/** Settles a payment that the operator calls paid: `applySuccess` in a transaction of its own. */
export const settleSuccess = (context: BillingJob, id: number, outcome: Succeeded): Promise<boolean> =>
	context.database.transact((trx) =>
		applySuccess(context, trx, id, outcome, makeDecider('the operator says that the payer paid'))
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
	context.database.transact((trx) => applyFailure(context, trx, id, code, makeDecider(reason)));

/** Expires a payment without an answer in time. Reads continue. */
export const settleExpired = (context: BillingJob, id: number): Promise<boolean> =>
	context.database.transact((trx) =>
		endUnpaid(context, trx, id, 'expired', 'payer_timeout', makeDecider('no final answer in time'))
	);

const makeDecider = (reason: string): Decider => ({ actor: 'reconciler', reason });

/** Settles a successful payment: buys the session's time or refunds it. Returns false if already settled. */
export async function applySuccess(
	context: BillingServices,
	trx: Tx,
	id: number,
	outcome: Succeeded,
	by: Decider
): Promise<boolean> {
	const now = context.clock.now();
	const session = await lockSession(trx, { paymentId: id });
	const before = await lockPayment(trx, id);
	if (!session || !before) throw new Error(`Payment ${id} is gone`);
	const changed = await changePayment(
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
		: await activateSession(context, trx, session, id);
	let after: PaymentRow;
	if (refundReason === null) {
		const applied = await changePayment(trx, { id, status: ['success'] }, { applied: 1 });
		if (!applied) throw new Error(`Payment ${id} changed inside its own transaction`);
		await recordPaymentEvent(context, trx, 'payment.success', applied, session);
		after = applied;
	} else {
		await recordPaymentEvent(context, trx, 'payment.success', payment, session);
		await startRefund(context, trx, payment, refundReason);
		after = await findPaymentOrThrow(trx, id);
	}
	await context.audit.record(trx, {
		...by,
		action: refundReason === null ? 'payment.success' : 'payment.success, not applied',
		paymentId: id,
		reason: refundReason === null ? by.reason : `${by.reason}; it buys nothing: ${refundReason}`,
		before: pickAudited(before),
		after: pickAudited(after)
	});
	return true;
}

/**
 * Opens a review if a transaction has already paid another payment. The payment settles all the same: the operator answers
 * for our own reference, and several networks of pawaPay can give the same id.
 * @returns whether it opened a review
 */
async function reviewUsedTransaction(
	context: Pick<Base, 'clock' | 'log'>,
	trx: Tx,
	payment: PaymentRow,
	transaction: string | null
): Promise<boolean> {
	const other = transaction ? await lockTransaction(trx, payment, transaction) : undefined;
	if (!other) return false;
	const detail = `transaction ${transaction} has already paid payment ${other.id}`;
	await openReview(context, trx, payment.id, 'contradiction', detail);
	return true;
}

/** Adds what only a callback reported. `payment` is the row that the change returned, so it holds the newest claim. */
async function storeCallbackFacts(context: BillingServices, trx: Tx, payment: PaymentRow) {
	const claim = parseClaim(payment);
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
	return (await changePayment(trx, { id: payment.id, status: ['success'] }, claimed)) ?? payment;
}

type Facts = Pick<CallbackClaim, 'operatorReference' | 'providerReference'>;

/** Names a request in the text of a review. */
export const formatRequest = ({ operatorReference, providerReference }: Facts): string =>
	[operatorReference && `request ${operatorReference}`, providerReference && `receipt ${providerReference}`]
		.filter(Boolean)
		.join(', ');

/** Opens a review about a request that a callback calls paid, beside the one that paid the payment. */
export async function reviewSecondCharge(
	context: Pick<Base, 'clock' | 'log'>,
	queries: Queries,
	payment: PaymentRow,
	other: Facts
): Promise<void> {
	const settled = isOfAnotherRequest(payment, other)
		? `request ${payment.operator_reference}`
		: `receipt ${payment.provider_reference}`;
	const detail = `${settled} settled the payment, and a callback says that the payer paid twice: also ${formatRequest(other)}`;
	await openReview(context, queries, payment.id, 'contradiction', detail);
}

function differsFromRequested(payment: PaymentRow): boolean {
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
	const reason = describeFailure(context, code);
	return (await changePayment(trx, { id, status: ['expired'] }, reason)) !== undefined;
}

const describeFailure = ({ clock }: BillingServices, code: FailureCode) => ({
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
	const to = { status, ...describeFailure(context, code) };
	const payment = await changePayment(trx, { id, status: ['pending'] }, to);
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

/**
 * Adds the receipt and the amount that the status read did not name: a refund may need them. Opens a review if the amount
 * differs from the settled one.
 */
export async function completeReceipt(
	context: Pick<Base, 'clock' | 'log'>,
	trx: Tx,
	id: number,
	hint: Omit<CallbackClaim, 'claimed'>
): Promise<void> {
	const payment = await lockPayment(trx, id);
	if (!payment) return;
	const { providerReference, amountMinor } = hint;
	const known = payment.provider_reference;
	if (providerReference !== null && known !== null && providerReference !== known) {
		return reviewSecondCharge(context, trx, payment, hint);
	}
	const own = trx.updateTable('payments').where('id', '=', payment.id);
	const isNews = providerReference && payment.provider_reference === null;
	if (isNews && !(await reviewUsedTransaction(context, trx, payment, providerReference))) {
		const receipt = own.set({ provider_reference: providerReference });
		await receipt.where('provider_reference', 'is', null).execute();
	}
	const settled = payment.settled_minor ?? payment.amount_minor;
	if (amountMinor === null) return;
	await closeAmountUnknown(context, trx, payment.id);
	if (amountMinor === settled) {
		if (amountMinor !== payment.amount_minor) return;
		const asked = { settled_minor: amountMinor, settled_currency: payment.currency };
		await own.set(asked).where('settled_minor', 'is', null).execute();
		return;
	}
	const money = (minor: number) => formatMinor(minor, payment.settled_currency ?? payment.currency, 'en');
	const detail = `a callback says ${money(amountMinor)}, settled as ${money(settled)}`;
	await openReview(context, trx, payment.id, 'amount_mismatch', detail);
}
