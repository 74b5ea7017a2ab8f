import type { Updateable } from 'kysely';
import { formatMinor } from '#lib/domain/money.ts';
import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import type { Author } from '../audit.ts';
import type { Base } from '../base.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { findById, insertRow, isChanged, withoutNulls } from '../db/queries.ts';
import type { Schema } from '../db/schema.ts';
import { refundReference } from '../platform/secrets.ts';
import {
	SUBMITTING_MAX_MS,
	computePollDelayMs,
	describeAttempt,
	formatCallbackUrl,
	formatRaw,
	keepMessage,
	redactMessage
} from './operator-calls.ts';
import { CROWDED_MS, isCrowded } from './operators/client.ts';
import type { OperatorAdapter, RefundRequest, StatusOutcome, SubmitOutcome } from './operators/operator.ts';
import {
	type BillingContext,
	type BillingJob,
	type BillingServices,
	type PaymentRow,
	REFUND_JOB,
	type RefundRow,
	changePayment,
	claimsSuccess,
	findPaidBefore,
	findPaymentOrThrow,
	lockPayment,
	recordPaymentEvent
} from './payments.ts';
import { type ReviewReason, closeRefundReviews, openReview } from './reviews.ts';
import {
	type HeldSession,
	type SessionServices,
	type UnappliedReason,
	endExtraTime,
	endRefunded,
	findLaterSessions,
	lockSessionAtOwner,
	findSessionOrThrow
} from './sessions.ts';
import type { Succeeded } from './settlement.ts';
import { isOfVoucher, restoreVoucher } from './vouchers.ts';

/** A refund works like a payment: its reference is stored first, and status reads resolve a lost answer. */

const RETRY_MS = 5_000;
/** A refund that the operator does not accept for this long opens a review; retries continue. */
const WAITING_MS = 60 * 60 * 1000;
/** A refund that the operator does not know after this time never arrived. */
const NOT_FOUND_MS = 2 * 60 * 1000;

interface Subject {
	refund: RefundRow;
	payment: PaymentRow;
	adapter: RefundingAdapter;
}

type RefundingAdapter = OperatorAdapter & Required<Pick<OperatorAdapter, 'refund' | 'readRefund'>>;

const isRefunding = (adapter: OperatorAdapter): adapter is RefundingAdapter =>
	adapter.refund !== undefined && adapter.readRefund !== undefined;

/** Handles REFUND_JOB. @returns when to look again, or null if the refund is over */
export async function refundPayment(context: BillingJob, refundId: number): Promise<number | null> {
	const { database, operators } = context;
	const refund = await findRefund(database.db, refundId);
	if (!refund || refund.status !== 'pending') return null;
	const payment = await findPaymentOrThrow(database.db, refund.payment_id);
	const adapter = operators.find(payment.operator);
	const canAsk = adapter !== undefined && isRefunding(adapter);
	// The operator may have it already.
	if (!adapter || (!canAsk && refund.submitted_at !== null)) return waitForOperator(context, payment);
	if (!canAsk) {
		await finish(context, refund, 'failed', 'refund_not_supported');
		return null;
	}
	const subject = { refund, payment, adapter };
	if (refund.submit_state !== 'created') return followRefund(context, subject);
	const { provider_reference: transaction } = payment;
	const other =
		adapter.capabilities.refundsByTransaction && transaction
			? await findPaidBefore(database.db, payment, transaction)
			: undefined;
	if (!other) return sendRefund(context, subject);
	// It would send back the money of the other payment.
	const detail = `transaction ${transaction} has also paid payment ${other.id}`;
	await finish(context, refund, 'failed', 'refund_refused', detail);
	return null;
}

/** The operator, or its keys for refunds, was removed from the settings while a refund was pending. */
async function waitForOperator(context: BillingJob, payment: PaymentRow) {
	const detail = `operator ${payment.operator} is not configured to refund; the refund waits for it`;
	await askPerson(context, payment, detail);
	return context.clock.now() + WAITING_MS;
}

/** For a person, who must decide. */
const askPerson = (context: BillingJob, { id }: PaymentRow, detail?: string) =>
	context.database.transact((trx) => openReview(context, trx, id, 'refund_no_final_answer', detail));

function describeRequest(context: BillingServices, { refund, payment }: Subject): RefundRequest {
	return {
		...describeAttempt(refund),
		amountMinor: refund.amount_minor,
		currency: refund.currency,
		callbackUrl: formatCallbackUrl(context, payment.operator, refund.reference),
		payment: {
			reference: payment.reference,
			operatorReference: payment.operator_reference,
			providerReference: payment.provider_reference
		}
	};
}

async function sendRefund(context: BillingJob, subject: Subject): Promise<number | null> {
	const { clock, database } = context;
	const { refund, payment, adapter } = subject;
	const sending = { submit_state: 'submitting', submitted_at: clock.now() } as const;
	// A person has ended it, or a late answer says that the operator has it.
	if (!(await changeSubmit(context, refund, sending, 'created'))) return clock.now();
	const outcome = await adapter.refund(describeRequest(context, subject));
	await keepMessage(context, payment, { kind: 'refund', outcome: outcome.kind, raw: outcome.raw });
	if (outcome.kind === 'refused') return handleRefusal(context, subject, outcome);
	const firstReadAt = clock.now() + adapter.capabilities.minStatusDelaySeconds * 1000;
	if (outcome.kind === 'uncertain') await changeSubmit(context, refund, { submit_state: 'uncertain' });
	else {
		// Some operators name the refund in this answer only, and no status read can ask for it without its name.
		await changeRefund(
			database.unfenced.db,
			{ id: refund.id },
			{
				submit_state: 'accepted',
				operator_reference: outcome.operatorReference,
				updated_at: clock.now()
			}
		);
	}
	return firstReadAt;
}

/** The operator queued nothing: the refund is sent again later, or fails. */
async function handleRefusal(
	context: BillingJob,
	subject: Subject,
	{ message, retryable }: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	const { refund, payment } = subject;
	const detail = redactMessage(message, payment.phone);
	if (retryable) {
		const back = { submit_state: 'created', submitted_at: refund.submitted_at } as const;
		await changeSubmit(context, refund, back, 'submitting');
		return pollLater(context, subject, { reviewAfterMs: WAITING_MS, detail });
	}
	await changeSubmit(context, refund, { submit_state: 'uncertain' }, 'submitting');
	const mayBeThere = refund.submitted_at !== null && !(await neverArrived(context, subject));
	if (mayBeThere) return pollLater(context, subject);
	await finish(context, refund, 'failed', 'refund_refused', detail);
	return null;
}

/** Checks that an earlier, unanswered request never arrived: this refusal says nothing about it. */
async function neverArrived(context: BillingJob, subject: Subject): Promise<boolean> {
	const isOld = context.clock.now() - subject.refund.created_at >= NOT_FOUND_MS;
	return isOld && (await readStatus(context, subject)).kind === 'not_found';
}

const readStatus = (context: BillingServices, subject: Subject): Promise<StatusOutcome> =>
	subject.adapter.readRefund(describeRequest(context, subject));

/** Reads a refund for a person. Returns null if no read can tell. */
export async function readRefund(context: BillingServices, refund: RefundRow, payment: PaymentRow) {
	const adapter = context.operators.find(payment.operator);
	if (!adapter || !isRefunding(adapter) || refund.submitted_at === null) return null;
	const outcome = await readStatus(context, { refund, payment, adapter });
	const isUnreported = outcome.kind === 'pending' && adapter.capabilities.refundsReportedByCallback;
	return isUnreported ? null : outcome;
}

async function followRefund(context: BillingJob, subject: Subject): Promise<number | null> {
	const { clock } = context;
	const { refund, payment, adapter } = subject;
	if (refund.submit_state === 'submitting') {
		const age = clock.now() - (refund.submitted_at ?? refund.updated_at);
		if (age <= SUBMITTING_MAX_MS) return clock.now() + RETRY_MS;
		await changeSubmit(context, refund, { submit_state: 'uncertain' });
		return clock.now();
	}
	const outcome = await readStatus(context, subject);
	if (isCrowded(outcome)) return clock.now() + CROWDED_MS;
	const message = { kind: 'refund', outcome: outcome.kind, raw: formatRaw(outcome) } as const;
	await keepMessage(context, payment, message, true);
	if (outcome.kind === 'succeeded') {
		const detail = formatDifference(refund, outcome);
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
		await askPerson(context, payment, detail);
	}
	if (outcome.kind !== 'not_found') return pollLater(context, subject);
	if (refund.submit_state === 'uncertain' && adapter.capabilities.resubmitSameReferenceSafe) {
		await changeSubmit(context, refund, { submit_state: 'created' }, 'uncertain');
	}
	const review = { reviewAfterMs: WAITING_MS, detail: 'the operator does not know the refund' };
	return Math.max(clock.now() + RETRY_MS, await pollLater(context, subject, review));
}

/** Returns how the money that went back differs from the refund; null if it does not, or is not reported. */
function formatDifference(
	{ amount_minor, currency }: RefundRow,
	{ amountMinor, currency: returned }: Pick<Succeeded, 'amountMinor' | 'currency'>
): string | null {
	const minor = amountMinor ?? amount_minor;
	if (minor === amount_minor && (returned ?? currency) === currency) return null;
	return `refunded ${formatMinor(minor, returned ?? currency, 'en')}, owed ${formatMinor(amount_minor, currency, 'en')}`;
}

/** Opens a review if the refund takes too long. */
async function pollLater(
	context: BillingJob,
	{ refund, payment }: Subject,
	review?: { reviewAfterMs: number; detail: string }
): Promise<number> {
	const { clock, config } = context;
	const ageMs = Math.max(0, clock.now() - refund.created_at);
	if (ageMs > (review?.reviewAfterMs ?? config.reconcileMs)) {
		await askPerson(context, payment, review?.detail);
	}
	return clock.now() + computePollDelayMs({ ageMs, uncertain: false, hasFailed: false });
}

/** @param state only in this state */
const changeSubmit = (
	{ clock, database }: BillingJob,
	{ id }: RefundRow,
	to: Parameters<typeof changeRefund>[2],
	state?: RefundRow['submit_state']
): Promise<boolean> =>
	database.transact((trx) =>
		changeRefund(trx, { id, submit_state: state }, { ...to, updated_at: clock.now() })
	);

async function finish(
	context: BillingJob,
	refund: RefundRow,
	status: 'succeeded' | 'failed',
	review: ReviewReason | null,
	detail: string | null = null
): Promise<void> {
	const { database, clock, audit } = context;
	await database.transact(async (trx) => {
		const now = clock.now();
		if (!(await changeRefund(trx, { id: refund.id }, { status, updated_at: now }))) return;
		const payment = await changePayment(
			trx,
			{ id: refund.payment_id, status: ['refund_pending'] },
			status === 'succeeded'
				? { status: 'refunded', refunded_at: now, updated_at: now }
				: { status: 'refund_failed', updated_at: now }
		);
		if (payment && status === 'succeeded')
			await recordPaymentEvent(context, trx, 'payment.refunded', payment);
		if (review !== null) await openReview(context, trx, refund.payment_id, review, detail || null);
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

/** `admin` is the API's name for a person's decision: of the owner, or of an administrator. */
export type RefundReason = UnappliedReason | 'amount_mismatch' | 'admin';

/** Refunds money that bought nothing, or as the owner decided. Opens a review if the amount differs from the one requested. */
export async function startRefund(
	context: BillingServices,
	trx: Tx,
	payment: PaymentRow,
	reason: RefundReason,
	from: 'success' | 'refund_failed' = 'success'
): Promise<RefundRow> {
	const now = context.clock.now();
	const earlier = await findRefunds(trx, payment.id);
	const refund = await insertRow(trx, 'refunds', {
		payment_id: payment.id,
		reference: refundReference(payment.reference, earlier.length + 1),
		// Refund the amount taken, even if it is not the amount requested.
		amount_minor: payment.settled_minor ?? payment.amount_minor,
		currency: payment.settled_currency ?? payment.currency,
		reason,
		status: 'pending',
		submit_state: 'created',
		created_at: now,
		updated_at: now
	});
	const to = { status: 'refund_pending', refund_reason: reason, updated_at: now } as const;
	const changed = await changePayment(trx, { id: payment.id, status: [from] }, to);
	if (!changed) throw new Error(`Payment ${payment.id} is not ${from}, so it cannot be refunded`);
	if (reason === 'amount_mismatch' && from === 'success') {
		const taken = formatMinor(refund.amount_minor, refund.currency, 'en');
		const requested = formatMinor(payment.amount_minor, payment.currency, 'en');
		const detail = `taken ${taken}, requested ${requested}`;
		await openReview(context, trx, payment.id, reason, detail);
	}
	await context.jobs.schedule(trx, REFUND_JOB, refund.id, now);
	return refund;
}

/**
 * Refunds a payment whose session was cancelled because no gateway let the buyer in; a voucher becomes valid again. Does
 * nothing if its owner has refunded it.
 */
export async function refundUnprovisioned(context: BillingServices, trx: Tx, id: number): Promise<void> {
	const now = context.clock.now();
	const payment = await changePayment(trx, { id, status: ['success'] }, { applied: 0, updated_at: now });
	if (!payment) {
		const { refund_reason: reason } = await findPaymentOrThrow(trx, id);
		if (reason === 'admin') return;
		throw new Error(`Payment ${id} is not one that bought anything`);
	}
	if (isOfVoucher(payment)) return restoreVoucher(context, trx, payment);
	const refund = await startRefund(context, trx, payment, 'provisioning_failed');
	await context.audit.record(trx, {
		actor: 'access',
		action: 'payment.success, taken back',
		paymentId: id,
		reason: 'no gateway let the buyer in: provisioning_failed',
		before: { status: 'success', applied: 1 },
		after: { status: 'refund_pending', applied: 0, refund: refund.reference }
	});
}

/**
 * Refunds the payment that bought a session at a router of this owner, and ends its time. A second call for the same
 * payment changes nothing. The operator's result follows as for every refund.
 * @returns `time_added`: paid time follows in the pass, and ending this one would end it too; `not_possible`: the money is
 * already going back, bought nothing, or the operator cannot refund. Then nothing changes.
 * @throws Refused `session_not_found`, also for a session at another owner's router
 */
export async function refundForOwner(
	context: BillingContext,
	accountId: number,
	sessionId: number,
	{ by, note }: Author
): Promise<'started' | 'time_added' | 'not_possible'> {
	const { database, audit } = context;
	return database.transact(async (trx) => {
		const session = await lockSessionAtOwner(context, trx, accountId, sessionId);
		const payment = session.payment_id === null ? undefined : await lockPayment(trx, session.payment_id);
		if (!payment) return 'not_possible';
		const isStarted = payment.status === 'refund_pending' || payment.status === 'refunded';
		if (payment.refund_reason === 'admin' && isStarted) return 'started';
		if (!mayPersonRefund(context, payment)) return 'not_possible';
		const refusal = await endForRefund(context, trx, session);
		if (refusal !== null) return refusal;
		const refund = await startRefund(context, trx, payment, 'admin');
		await audit.record(trx, {
			actor: by,
			action: 'payment.refund',
			paymentId: payment.id,
			refundId: refund.id,
			reason: note,
			before: { status: 'success', session: session.status },
			after: {
				router_id: session.router_id,
				status: 'refund_pending',
				amount_minor: refund.amount_minor,
				currency: refund.currency
			}
		});
		return 'started';
	});
}

/**
 * Records that a person returns in another way a payment for a session at a router of this owner, and ends the time that
 * it bought. A second call of the same person changes nothing.
 * @returns `time_added` as `refundForOwner`; `not_possible`: the operator returns it, it is not owed, or somebody else has
 * recorded it
 * @throws Refused `session_not_found`, also for a session at another owner's router
 */
export async function recordRefundForOwner(
	context: BillingContext,
	accountId: number,
	{ sessionId, paymentId }: { sessionId: number; paymentId: number },
	author: Author
): Promise<'recorded' | 'time_added' | 'not_possible'> {
	const { audit, database } = context;
	return database.transact(async (trx) => {
		const session = await lockSessionAtOwner(context, trx, accountId, sessionId);
		const payment = await lockPayment(trx, paymentId);
		if (payment?.session_id !== sessionId) return 'not_possible';
		const isRecorded = (await audit.ofPayment(trx, paymentId)).some(
			({ action, actor }) => action === REFUND_BY_HAND && actor === author.by
		);
		if (isRecorded && payment.status === 'refunded') return 'recorded';
		if (!takesRefundByHand(context, payment)) return 'not_possible';
		const refusal = payment.status === 'success' ? await endForRefund(context, trx, session) : null;
		if (refusal !== null) return refusal;
		await recordRefundByHand(context, trx, payment, author);
		return 'recorded';
	});
}

/** In the audit log. */
const REFUND_BY_HAND = 'refund.by_hand';

/** Whether a payment can be undone without a person: its operator can return the money, or its voucher becomes valid again. */
export async function canOperatorRefund(
	{ operators }: Pick<BillingContext, 'operators'>,
	queries: Queries,
	id: number
): Promise<boolean> {
	const payment = await findPaymentOrThrow(queries, id);
	return isOfVoucher(payment) || operators.find(payment.operator)?.refund !== undefined;
}

/** Whether a person may refund it: it bought time, its operator can return the money, and its number is still stored. */
export const mayPersonRefund = (
	{ operators }: Pick<BillingContext, 'operators'>,
	payment: Pick<PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'success' &&
	payment.applied === 1 &&
	payment.phone !== DELETED_NUMBER &&
	operators.all().some(({ id, refund }) => id === payment.operator && refund !== undefined);

/** Whether a person may record that the money went back in another way: the operator cannot return it, or did not. */
export const takesRefundByHand = (
	context: Pick<BillingContext, 'operators'>,
	payment: Pick<PaymentRow, 'status' | 'applied' | 'operator' | 'phone'>
): boolean =>
	payment.status === 'refund_failed' ||
	(payment.status === 'success' && payment.applied === 1 && !mayPersonRefund(context, payment));

/** Whether a person has recorded that the money went back in another way. */
export const isRefundedByHand = (
	{ status }: Pick<PaymentRow, 'status'>,
	refunds: readonly Pick<RefundRow, 'status'>[]
): boolean => status === 'refunded' && refunds.every((refund) => refund.status !== 'succeeded');

/**
 * Ends the time of a session whose payment is refunded.
 * @returns why it must not end; null if it is over
 */
export async function endForRefund(context: SessionServices, trx: Tx, session: HeldSession) {
	if (session.status === 'active') {
		if ((await findLaterSessions(trx, session)).length > 0) return 'time_added';
		await endRefunded(context, trx, session);
	} else if (session.status === 'expired') await endExtraTime(context, trx, session);
	else if (session.status !== 'ended') return 'not_possible';
	return null;
}

/** Records a refund that a person sent in another way, and resolves the reviews about it. */
export async function recordRefundByHand(
	context: BillingContext,
	trx: Tx,
	{ id, status, refund_reason, session_id }: PaymentRow,
	{ by, note, transaction = null }: Author & { transaction?: string | null }
): Promise<void> {
	const now = context.clock.now();
	const refunded = await changePayment(
		trx,
		{ id, status: [status] },
		{ status: 'refunded', refund_reason: refund_reason ?? 'admin', refunded_at: now, updated_at: now }
	);
	if (!refunded) throw new Error(`Payment ${id} changed inside its own transaction`);
	await recordPaymentEvent(context, trx, 'payment.refunded', refunded);
	await closeRefundReviews(context, trx, id, { by, note, decision: 'refunded' });
	const { router_id } = await findSessionOrThrow(trx, session_id);
	await context.audit.record(trx, {
		actor: by,
		reason: note,
		action: REFUND_BY_HAND,
		paymentId: id,
		before: { status },
		after: { router_id, status: 'refunded', transaction }
	});
}

/**
 * Opens a review if a callback called a failed refund successful: a person may return the money, too. Called
 * after the failure and after the claim is stored, so that one of the two sees the other.
 */
export async function reviewFailedRefund(
	context: Pick<Base, 'clock' | 'log'>,
	queries: Queries,
	refundId: number
): Promise<void> {
	const refund = await findRefund(queries, refundId);
	if (refund?.status !== 'failed' || !claimsSuccess(refund)) return;
	const detail = `a callback says that refund ${refund.reference} succeeded; here it failed`;
	await openReview(context, queries, refund.payment_id, 'contradiction', detail);
}

export const findRefunds = (queries: Queries, paymentId: number) =>
	queries.selectFrom('refunds').selectAll().where('payment_id', '=', paymentId).orderBy('id').execute();

export const findRefund = (queries: Reads, id: number) => findById(queries, 'refunds', id);

/** Changes a pending refund. Returns false if it has left the given state. */
export const changeRefund = (
	queries: Queries,
	{
		id,
		...seen
	}: { id: number } & { [Field in 'submit_state' | 'submitted_at']?: RefundRow[Field] | undefined },
	to: Updateable<Schema['refunds']>
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('refunds')
			.set(to)
			.where(({ and }) => and({ id, status: 'pending', ...withoutNulls(seen) }))
	);
