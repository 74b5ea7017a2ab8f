import { formatMinor } from '#lib/domain/money.ts';
import type { OperatorAdapter, RefundRequest, StatusOutcome, SubmitOutcome } from '../operators/operator.ts';
import { CROWDED_MS, isCrowded } from '../operators/outcomes.ts';
import type { ReviewReason } from '../reviews/reviews.ts';
import { attemptOf, reviewFailedRefund } from '../callbacks/claims.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import type { BillingContext } from '../context.ts';
import { keepMessage, rawOf, redactMessage } from '../callbacks/messages.ts';
import { nextPollDelayMs } from '../payments/poll-schedule.ts';
import { recordPaymentEvent, type Succeeded } from '../payments/settlement.ts';
import { SUBMITTING_MAX_MS } from '../payments/submission.ts';
import * as store from '../payments/store.ts';

/** A refund works like a payment: its reference is stored first, and status reads resolve a lost answer. */

const RETRY_MS = 5_000;
/** A refund that the operator does not accept for this long opens a review; retries continue. */
const WAITING_MS = 60 * 60 * 1000;
/** A refund that the operator does not know after this time never arrived. */
const NOT_FOUND_MS = 2 * 60 * 1000;

interface Subject {
	refund: store.RefundRow;
	payment: store.PaymentRow;
	adapter: RefundingAdapter;
}

type RefundingAdapter = OperatorAdapter & Required<Pick<OperatorAdapter, 'refund' | 'readRefund'>>;

const isRefunding = (adapter: OperatorAdapter): adapter is RefundingAdapter =>
	adapter.refund !== undefined && adapter.readRefund !== undefined;

/** Handles REFUND_JOB. @returns when to look again, or null if the refund is over */
export async function refundPayment(context: BillingContext, refundId: number): Promise<number | null> {
	const { database, operators } = context;
	const refund = await store.findRefund(database.db, refundId);
	if (!refund || refund.status !== 'pending') return null;
	const payment = await store.findOrThrow(database.db, refund.payment_id);
	const adapter = operators.find(payment.operator);
	const canAsk = adapter !== undefined && isRefunding(adapter);
	// The operator may have it already.
	if (!adapter || (!canAsk && refund.submitted_at !== null)) return operatorRemoved(context, payment);
	if (!canAsk) {
		await finish(context, refund, 'failed', 'refund_not_supported');
		return null;
	}
	const subject = { refund, payment, adapter };
	if (refund.submit_state !== 'created') return read(context, subject);
	const { provider_reference: transaction } = payment;
	const other =
		adapter.capabilities.refundsByTransaction && transaction
			? await store.paidBefore(database.db, payment, transaction)
			: undefined;
	if (!other) return submit(context, subject);
	// It would send back the money of the other payment.
	const detail = `transaction ${transaction} has also paid payment ${other.id}`;
	await finish(context, refund, 'failed', 'refund_refused', detail);
	return null;
}

/** The operator, or its keys for refunds, was removed from the settings while a refund was pending. */
async function operatorRemoved({ reviews, database, clock }: BillingContext, payment: store.PaymentRow) {
	const detail = `operator ${payment.operator} is not configured to refund; the refund waits for it`;
	await reviews.open(database.db, payment.id, 'refund_no_final_answer', detail);
	return clock.now() + WAITING_MS;
}

function requestOf(context: BillingContext, { refund, payment }: Subject): RefundRequest {
	return {
		...attemptOf(refund),
		amountMinor: refund.amount_minor,
		currency: refund.currency,
		callbackUrl: callbackUrl(context, payment.operator, refund.reference),
		payment: {
			reference: payment.reference,
			operatorReference: payment.operator_reference,
			providerReference: payment.provider_reference
		}
	};
}

async function submit(context: BillingContext, subject: Subject): Promise<number | null> {
	const { clock } = context;
	const { refund, payment, adapter } = subject;
	const sentAt = clock.now();
	const sending = { submit_state: 'submitting', submitted_at: sentAt } as const;
	// Another process sends it or has sent it, or a person has ended it.
	if (!(await setSubmit(context, refund, sending, 'created', refund.submitted_at)))
		return clock.now() + RETRY_MS;
	const outcome = await adapter.refund(requestOf(context, subject));
	await keepMessage(context, payment, { kind: 'refund', outcome: outcome.kind, raw: outcome.raw });
	if (outcome.kind === 'refused') return handleRefusal(context, subject, sentAt, outcome);
	const firstReadAt = clock.now() + adapter.capabilities.minStatusDelaySeconds * 1000;
	await setSubmit(context, refund, {
		submit_state: outcome.kind,
		...(outcome.kind === 'accepted' ? { operator_reference: outcome.operatorReference } : {})
	});
	return firstReadAt;
}

/** The operator queued nothing: the refund is sent again later, or fails. */
async function handleRefusal(
	context: BillingContext,
	subject: Subject,
	sentAt: number,
	{ message, retryable }: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	const { refund, payment } = subject;
	const isOwn = await setSubmit(context, refund, { submit_state: 'uncertain' }, 'submitting', sentAt);
	// After a pause of this process, another has asked for the result or sent it again.
	if (!isOwn) return pollLater(context, subject);
	const detail = redactMessage(message, payment.phone);
	if (retryable) {
		const back = { submit_state: 'created', submitted_at: refund.submitted_at } as const;
		await setSubmit(context, refund, back, 'uncertain', sentAt);
		return pollLater(context, subject, { reviewAfterMs: WAITING_MS, detail });
	}
	const mayBeThere = refund.submitted_at !== null && !(await neverArrived(context, subject));
	if (mayBeThere) return pollLater(context, subject);
	await finish(context, refund, 'failed', 'refund_refused', detail);
	return null;
}

/** Checks that an earlier, unanswered request never arrived: this refusal says nothing about it. */
async function neverArrived(context: BillingContext, subject: Subject): Promise<boolean> {
	const isOld = context.clock.now() - subject.refund.created_at >= NOT_FOUND_MS;
	return isOld && (await readStatus(context, subject)).kind === 'not_found';
}

const readStatus = (context: BillingContext, subject: Subject): Promise<StatusOutcome> =>
	subject.adapter.readRefund(requestOf(context, subject));

/** Reads a refund for a person. Returns null if no read can tell. */
export async function readRefund(
	context: BillingContext,
	refund: store.RefundRow,
	payment: store.PaymentRow
): Promise<StatusOutcome | null> {
	const adapter = context.operators.find(payment.operator);
	if (!adapter || !isRefunding(adapter) || refund.submitted_at === null) return null;
	const outcome = await readStatus(context, { refund, payment, adapter });
	const isUnreported = outcome.kind === 'pending' && adapter.capabilities.refundsReportedByCallback;
	return isUnreported ? null : outcome;
}

async function read(context: BillingContext, subject: Subject): Promise<number | null> {
	const { clock } = context;
	const { refund, payment, adapter } = subject;
	if (refund.submit_state === 'submitting') {
		const age = clock.now() - (refund.submitted_at ?? refund.updated_at);
		if (age <= SUBMITTING_MAX_MS) return clock.now() + RETRY_MS;
		await setSubmit(context, refund, { submit_state: 'uncertain' });
		return clock.now();
	}
	const outcome = await readStatus(context, subject);
	if (isCrowded(outcome)) return clock.now() + CROWDED_MS;
	const message = { kind: 'refund', outcome: outcome.kind, raw: rawOf(outcome) } as const;
	await keepMessage(context, payment, message, true);
	if (outcome.kind === 'succeeded') {
		const detail = differenceOf(refund, outcome);
		await finish(context, refund, 'succeeded', detail === null ? null : 'amount_mismatch', detail);
		return null;
	}
	if (outcome.kind === 'failed') {
		await finish(context, refund, 'failed', 'refund_failed');
		return null;
	}
	if (outcome.kind === 'unreadable' || outcome.kind === 'contradiction') {
		// No status read can tell, and sending it again could refund twice.
		const detail = outcome.kind === 'unreadable' ? outcome.cause : outcome.message;
		await context.reviews.open(context.database.db, payment.id, 'refund_no_final_answer', detail);
	}
	if (outcome.kind !== 'not_found') return pollLater(context, subject);
	if (refund.submit_state === 'uncertain' && adapter.capabilities.resubmitSameReferenceSafe) {
		await setSubmit(context, refund, { submit_state: 'created' }, 'uncertain');
	}
	const review = { reviewAfterMs: WAITING_MS, detail: 'the operator does not know the refund' };
	return Math.max(clock.now() + RETRY_MS, await pollLater(context, subject, review));
}

/** Returns how the money that went back differs from the refund; null if it does not, or is not reported. */
function differenceOf(
	{ amount_minor, currency }: store.RefundRow,
	{ amountMinor, currency: returned }: Pick<Succeeded, 'amountMinor' | 'currency'>
): string | null {
	const minor = amountMinor ?? amount_minor;
	if (minor === amount_minor && (returned ?? currency) === currency) return null;
	return `refunded ${formatMinor(minor, returned ?? currency, 'en')}, owed ${formatMinor(amount_minor, currency, 'en')}`;
}

/** Opens a review if the refund takes too long. */
async function pollLater(
	context: BillingContext,
	{ refund, payment }: Subject,
	review?: { reviewAfterMs: number; detail: string }
): Promise<number> {
	const { clock, config, reviews, database } = context;
	const ageMs = Math.max(0, clock.now() - refund.created_at);
	if (ageMs > (review?.reviewAfterMs ?? config.reconcileMs)) {
		await reviews.open(database.db, payment.id, 'refund_no_final_answer', review?.detail);
	}
	return clock.now() + nextPollDelayMs({ ageMs, uncertain: false, hasFailed: false });
}

/** @param state only in this state. @param sentAt only if it was last sent then, or never (null) */
const setSubmit = (
	{ clock, database }: BillingContext,
	{ id }: store.RefundRow,
	to: Parameters<typeof store.changeRefund>[2],
	state?: store.RefundRow['submit_state'],
	sentAt?: number | null
): Promise<boolean> =>
	store.changeRefund(
		database.db,
		{ id, submit_state: state, submitted_at: sentAt },
		{ ...to, updated_at: clock.now() }
	);

async function finish(
	context: BillingContext,
	refund: store.RefundRow,
	status: 'succeeded' | 'failed',
	review: ReviewReason | null,
	detail: string | null = null
): Promise<void> {
	const { database, clock, audit, reviews } = context;
	await database.transact(async (trx) => {
		const now = clock.now();
		if (!(await store.changeRefund(trx, { id: refund.id }, { status, updated_at: now }))) return;
		const payment = await store.change(
			trx,
			{ id: refund.payment_id, status: ['refund_pending'] },
			status === 'succeeded'
				? { status: 'refunded', refunded_at: now, updated_at: now }
				: { status: 'refund_failed', updated_at: now }
		);
		if (payment && status === 'succeeded')
			await recordPaymentEvent(context, trx, 'payment.refunded', payment);
		if (review !== null) await reviews.open(trx, refund.payment_id, review, detail || null);
		await reviewFailedRefund(context, trx, refund.id);
		await audit.record(trx, {
			actor: 'refunds',
			action: `refund.${status}`,
			paymentId: refund.payment_id,
			refundId: refund.id,
			reason: detail || review || 'the operator says that the money went back',
			before: { refund: 'pending', payment: 'refund_pending' },
			after: { refund: status, payment: payment?.status ?? null, amount_minor: refund.amount_minor }
		});
	});
}
