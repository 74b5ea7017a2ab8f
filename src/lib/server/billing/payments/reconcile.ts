import { HOUR_MS } from '#lib/domain/time/time.ts';
import type { CallbackClaim, OperatorAdapter, StatusOutcome } from '../operators/operator.ts';
import { CROWDED_MS, isCrowded, unavailable } from '../operators/outcomes.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import { completeReceipt } from '../callbacks/callbacks.ts';
import { attemptOf, claimOf, claimsSuccess } from '../callbacks/claims.ts';
import type { BillingContext } from '../context.ts';
import { failureCode } from '../operators/failures.ts';
import { keepAnswer, lastStatusAnswer, redactMessage } from '../callbacks/messages.ts';
import { sameReviews } from '../reviews/reviews.ts';
import { nextPollDelayMs } from './poll-schedule.ts';
import { settleExpired, settleFailure, settleSuccess } from './settlement.ts';
import * as store from './store.ts';
import { resubmit, SUBMITTING_MAX_MS } from './submission.ts';

/**
 * Asks the operator for a payment's status until it is final; callbacks only bring the next read forward.
 * Reads continue after expiry or failure: a payer whose success comes late is owed time or money.
 */

/** Watches failed payments this long; those without a final answer for RECONCILE_HOURS. */
const WATCH_FAILED_MS = 24 * 60 * 60 * 1000;
/** A callback with the amount comes within seconds of the payment, or not at all. */
const AMOUNT_MS = 30_000;
const AMOUNT_MAX_MS = 3 * 60_000;
/** "Not found" counts only after this many answers over this time: operators may lag. */
const NOT_FOUND_TIMES = 3;
const NOT_FOUND_SECONDS = 2 * 60;

/** Handles RECONCILE_JOB. @returns when to ask again, or null if the result is final */
export async function reconcilePayment(context: BillingContext, id: number): Promise<number | null> {
	const { database, clock, log, operators } = context;
	const payment = await store.find(database.db, id);
	if (!payment) return null;
	if (!mayStillBePaid(payment)) return findAmount(context, payment);
	if (payment.submit_state === 'created' && payment.submitted_at === null && !claimsSuccess(payment)) {
		// Still in the outbox, and no callback calls it paid. A failed one is never sent.
		return payment.status === 'pending' ? clock.now() + delay(payment, clock.now()) : null;
	}
	if (
		payment.submit_state === 'submitting' &&
		clock.now() - (payment.submitted_at ?? 0) > SUBMITTING_MAX_MS
	) {
		await store.change(database.db, { id, submit_state: ['submitting'] }, { submit_state: 'uncertain' });
	}

	const adapter = operators.find(payment.operator);
	if (!adapter) log.error({ payment: id, operator: payment.operator }, 'operator is not configured');
	const outcome = adapter
		? await ask(context, payment, adapter)
		: unavailable(`Operator ${payment.operator} is not configured.`);
	// The next read counts from here: what follows lets others see the answer, and they act on it.
	const now = clock.now();
	if (isCrowded(outcome)) return now + CROWDED_MS;
	await keepAnswer(context, payment, 'status', outcome);
	if (outcome.kind !== 'not_found' && payment.not_found_count > 0) {
		await store.change(database.db, { id }, { not_found_count: 0 });
	}

	if (outcome.kind === 'succeeded') {
		await settleSuccess(context, id, outcome);
		const isTold =
			!adapter?.readAmount || (await isAmountTold(context, await store.findOrThrow(database.db, id)));
		return isTold ? null : now + AMOUNT_MS;
	}
	if (outcome.kind === 'failed' && payment.failure_code !== failureCode(outcome.reason)) {
		await settleFailure(context, id, failureCode(outcome.reason));
	}
	if (outcome.kind === 'not_found' && adapter) await notFound(context, payment, adapter);
	if (outcome.kind === 'contradiction') await openReview(context, payment, 'contradiction', outcome.message);
	if (outcome.kind === 'unreadable' && mayBeThere(payment) && payment.expires_at <= now) {
		// A callback may still arrive, but no status read is possible, and the payer may have paid.
		await context.reviews.open(database.db, id, 'no_reference', outcome.cause);
	}
	return expireOrReadAgain(context, id, outcome, now);
}

/**
 * Asks for the amount of a success, if the operator tells it by callback only and no callback has. Access does not wait for it.
 * A person looks when nothing tells it.
 */
async function findAmount(context: BillingContext, payment: store.PaymentRow): Promise<number | null> {
	const { database, clock, operators, reviews } = context;
	const { id, operator, reference, paid_at } = payment;
	const isKept = payment.status === 'success' || payment.status === 'refund_pending';
	const adapter = operators.find(operator);
	if (!isKept || !adapter?.readAmount || (await isAmountTold(context, payment))) return null;
	const now = clock.now();
	if (now - (paid_at ?? now) >= AMOUNT_MAX_MS) {
		const detail = 'the operator says that the payer paid, and no message has told how much';
		await reviews.open(database.db, id, 'amount_unknown', detail);
		return null;
	}
	const request = { ...attemptOf(payment), callbackUrl: callbackUrl(context, operator, reference) };
	const outcome = await adapter.readAmount(request);
	if (outcome.kind !== 'succeeded') return clock.now() + AMOUNT_MS;
	await completeReceipt(context, payment, { operatorReference: null, ...outcome });
	return null;
}

async function isAmountTold({ database }: BillingContext, payment: store.PaymentRow): Promise<boolean> {
	if (payment.settled_minor !== null || claimOf(payment)?.amountMinor != null) return true;
	const about = { subject: `payment ${payment.id}`, reason: 'amount_mismatch' };
	return (await sameReviews(database.db, about)).length > 0;
}

/** The payer may still be charged, or may have been charged without our knowledge. */
const mayStillBePaid = (payment: store.PaymentRow) =>
	payment.status === 'pending' || payment.status === 'expired' || payment.status === 'failed';

/** False if the operator refused the request. If it queued it all the same, a callback says so. */
const mayBeThere = ({ submit_state }: store.PaymentRow) => submit_state !== 'refused';

async function openReview(
	context: BillingContext,
	{ id, phone }: store.PaymentRow,
	reason: 'contradiction' | 'no_final_answer',
	message: string
): Promise<void> {
	await context.reviews.open(context.database.db, id, reason, redactMessage(message, phone));
}

/** Opens a review if a callback said that the payment was paid, which no status read confirms. */
async function reviewClaim(
	context: BillingContext,
	payment: store.PaymentRow,
	said: string
): Promise<boolean> {
	const claim = claimOf(payment);
	if (claim?.claimed !== 'succeeded') return false;
	await openReview(context, payment, 'no_final_answer', unconfirmed(claim, said));
	return true;
}

function unconfirmed({ providerReference }: CallbackClaim, said: string): string {
	const receipt = providerReference === null ? '' : `, receipt ${providerReference}`;
	return `A callback said that it was paid${receipt}; the status read says: ${said}`;
}

async function ask(
	context: BillingContext,
	payment: store.PaymentRow,
	adapter: OperatorAdapter
): Promise<StatusOutcome> {
	const claim = claimOf(payment);
	const outcome = await adapter.readStatus(attemptOf(payment));
	const other = await namedByOther(context, payment, outcome);
	if (other) {
		const message = `a callback names request ${other.operator_reference}, which is of payment ${other.id}`;
		return { kind: 'contradiction', message, raw: 'raw' in outcome ? outcome.raw : '' };
	}
	if (outcome.kind !== 'failed' || claim?.claimed !== 'succeeded') return outcome;
	return { kind: 'contradiction', message: unconfirmed(claim, outcome.message), raw: outcome.raw };
}

/** Returns the other payment whose request a callback named as paid for this one. */
async function namedByOther(
	{ database }: BillingContext,
	payment: store.PaymentRow,
	outcome: StatusOutcome
): Promise<store.PaymentRow | undefined> {
	if (outcome.kind !== 'succeeded' || !outcome.operatorReference) return undefined;
	if (outcome.operatorReference === payment.operator_reference) return undefined;
	return store.sentAs(database.db, payment, outcome.operatorReference);
}

/**
 * Handles a reference that the operator does not know. Sends it again while the buyer waits, if that is
 * harmless. Otherwise the payment fails only after the operator had time to catch up. Reads continue in both
 * cases: an operator may be slower than it says.
 */
async function notFound(
	context: BillingContext,
	payment: store.PaymentRow,
	{ capabilities: { resubmitSameReferenceSafe, notFoundFinalSeconds } }: OperatorAdapter
): Promise<void> {
	const { database, clock } = context;
	const count = payment.not_found_count + 1;
	await store.change(database.db, { id: payment.id }, { not_found_count: count });
	const current = await store.find(database.db, payment.id);
	if (!current || !mayStillBePaid(current) || current.submit_state !== 'uncertain') return;
	if (resubmitSameReferenceSafe && current.status === 'pending') {
		if (clock.now() < current.expires_at && !claimsSuccess(current)) await resubmit(context, payment.id);
		return;
	}
	const age = clock.now() - (payment.submitted_at ?? payment.created_at);
	if (count >= NOT_FOUND_TIMES && age >= (notFoundFinalSeconds ?? NOT_FOUND_SECONDS) * 1000) {
		if (await reviewClaim(context, current, 'not found')) return;
		await settleFailure(context, payment.id, 'provider_unavailable');
	}
}

/** Returns when to read again; null after the last read. Stores an expiry that is due, and what a person must decide. */
async function expireOrReadAgain(
	context: BillingContext,
	id: number,
	outcome: StatusOutcome,
	now: number
): Promise<number | null> {
	const payment = await expireWhenDue(context, id, now);
	if (!payment || !mayStillBePaid(payment)) return null;
	const age = now - payment.created_at;
	const isUnpaid = saysUnpaid(payment, outcome);
	const isOver = isRefused(payment, outcome) || (isUnpaid && age >= WATCH_FAILED_MS);
	if (outcome.kind !== 'contradiction' && (isOver || payment.expires_at <= now)) {
		const said = 'cause' in outcome ? outcome.cause : outcome.kind.replace('_', ' ');
		await reviewClaim(context, payment, said);
	}
	if (isOver) return null;
	if (!isUnpaid && age >= context.config.reconcileMs) return giveUp(context, payment);
	const wanted = outcome.kind === 'unavailable' ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
	const at = now + Math.max(wanted, delay(payment, now));
	// Read at the moment of expiry, before the page says "expired".
	return payment.status === 'pending' ? Math.max(now, Math.min(at, payment.expires_at)) : at;
}

async function expireWhenDue(context: BillingContext, id: number, now: number) {
	const { db } = context.database;
	const payment = await store.find(db, id);
	if (payment?.status !== 'pending' || payment.expires_at > now) return payment;
	await settleExpired(context, id);
	return store.find(db, id);
}

/** The operator refused the request, and knows nothing of it. */
const isRefused = ({ submit_state: state }: store.PaymentRow, { kind }: StatusOutcome): boolean =>
	state === 'refused' && (kind === 'not_found' || kind === 'unreadable');

/** The operator says that nothing was paid, whatever the page said before. */
function saysUnpaid({ status, submit_state: state }: store.PaymentRow, { kind }: StatusOutcome): boolean {
	// A failed payment that the operator calls pending may still be charged. No answer says nothing.
	if (status === 'failed') return kind !== 'pending' && kind !== 'unavailable';
	return kind === 'failed' || (kind === 'not_found' && state === 'uncertain');
}

/**
 * Asks no more after RECONCILE_HOURS. A person decides, unless the operator has long called a failed payment unpaid, or the
 * same question has been asked. A payment that the operator still calls pending may be charged yet.
 */
async function giveUp(
	{ database, reviews, config }: BillingContext,
	payment: store.PaymentRow
): Promise<null> {
	const last = await lastStatusAnswer(database.db, payment.id);
	if (last?.outcome !== 'pending') {
		if (payment.status === 'failed' || (await reviews.hasAskedIfPaid(database.db, payment.id))) return null;
	}
	const detail = `no final answer in ${config.reconcileMs / HOUR_MS} hours, so Airtill asks no more`;
	await reviews.open(database.db, payment.id, 'no_final_answer', detail);
	return null;
}

const delay = (payment: store.PaymentRow, now: number): number =>
	nextPollDelayMs({
		ageMs: Math.max(0, now - (payment.submitted_at ?? payment.created_at)),
		uncertain: payment.submit_state === 'uncertain',
		hasFailed: payment.status === 'failed'
	});
