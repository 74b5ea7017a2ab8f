import { sql } from 'kysely';
import { DAY_MS, HOUR_MS, formatDuration } from '#lib/domain/time.ts';
import type { Reads } from '../db/database.ts';
import { repairIfLost } from '../jobs.ts';
import {
	SUBMITTING_MAX_MS,
	computePollDelayMs,
	describeAttempt,
	findLastStatusAnswer,
	formatCallbackUrl,
	keepAnswer,
	redactMessage
} from './operator-calls.ts';
import { CROWDED_MS, busy, isCrowded, refused, unavailable } from './operators/client.ts';
import {
	type CallbackClaim,
	type OperatorAdapter,
	type StatusOutcome,
	type SubmitOutcome,
	failureCode
} from './operators/operator.ts';
import {
	type BillingJob,
	type PaymentRow,
	RECONCILE_JOB,
	SUBMIT_JOB,
	changePayment,
	claimsSuccess,
	findPayment,
	findPaymentOrThrow,
	findSentAs,
	parseClaim,
	writePayment
} from './payments.ts';
import { type ReviewReason, findSameReviews, hasAskedIfPaid, openReview } from './reviews.ts';
import { completeReceipt, settleExpired, settleFailure, settleSuccess } from './settlement.ts';

/**
 * A payment at its operator: SUBMIT_JOB sends the request, RECONCILE_JOB reads its status until it is final.
 *
 * States of the request (`submit_state`): `created` waits in the outbox; `submitting` is on its way; `accepted`; `refused`,
 * so the operator queued nothing; `uncertain`, because the answer was lost. If a process dies while sending, the row stays
 * `submitting`, and a status read decides.
 *
 * Guarantees: a request is never sent while the operator may have it, nor after the buyer's waiting time. It always has the
 * stored reference. Callbacks only bring the next read forward. Reads continue after expiry or failure: a payer whose success
 * comes late is owed time or money.
 */

const RETRY_MS = 5_000;
/** For the audit log. */
const REFUSED = 'the request was refused, so nothing was paid';
/** Watches failed payments this long; those without a final answer for RECONCILE_HOURS. */
const WATCH_FAILED_MS = DAY_MS;
/** A callback with the amount comes within seconds of the payment, or not at all. */
const AMOUNT_MS = 30_000;
const AMOUNT_MAX_MS = 3 * 60_000;
/** "Not found" counts only after this many answers over this time: operators may lag. */
const NOT_FOUND_TIMES = 3;
const NOT_FOUND_SECONDS = 2 * 60;

/** Handles SUBMIT_JOB. @returns when to try again, or null if nothing is left to send */
export async function submitPayment(context: BillingJob, id: number): Promise<number | null> {
	const { database, clock } = context;
	const payment = await findWithSession(database.db, id);
	if (!payment || payment.status !== 'pending') return null;
	if (payment.submit_state === 'submitting') return markUncertain(context, id);
	if (payment.submit_state === 'refused') {
		// The process died before it failed the payment.
		await settleFailure(context, id, 'provider_unavailable', REFUSED);
		return null;
	}
	if (payment.submit_state !== 'created') return null;
	// The operator queued a request that it refused, and the payer has approved it.
	if (claimsSuccess(payment)) return markUncertain(context, id);

	const wanted = payment.session_status === 'pending_payment';
	if (!wanted || payment.expires_at <= clock.now()) {
		// A prompt would surprise the payer now. An earlier request may still have arrived.
		if (payment.submitted_at !== null) return markUncertain(context, id);
		// Nothing was sent, so the payer was not charged.
		const code = wanted ? 'provider_unavailable' : 'payer_rejected';
		await settleFailure(
			context,
			id,
			code,
			'not sent: the session no longer waits for it, or its time to pay was over'
		);
		return null;
	}

	const now = clock.now();
	const sending = await writePayment(
		context,
		{ id, submit_state: ['created'], status: ['pending'] },
		{ submit_state: 'submitting', submitted_at: now }
	);
	// It was decided meanwhile, and nobody would ask for the result.
	if (!sending) return now;

	const outcome = await sendPayment(context, payment);
	await keepAnswer(context, payment, 'submit', outcome);
	switch (outcome.kind) {
		case 'accepted':
			// M-Pesa names the request in this answer only, and no status read can ask for a request without its name.
			await changePayment(
				database.unfenced.db,
				{ id, submit_state: ['submitting', 'uncertain'] },
				{ submit_state: 'accepted', operator_reference: keepFirst(outcome.operatorReference) }
			);
			return null;
		case 'refused':
			return handleRefusal(context, payment, outcome);
		case 'uncertain':
			return markUncertain(context, id);
	}
}

async function sendPayment(context: BillingJob, payment: PaymentRow & { duration: string }) {
	const adapter = context.operators.find(payment.operator);
	if (!adapter) return busy(`Operator ${payment.operator} is not configured.`);
	const { currency: taken = payment.currency } = adapter;
	if (payment.currency !== taken || !adapter.takesNumber(payment.phone)) {
		// The settings have changed since the payment was started.
		return refused('merchant_error', `Operator ${payment.operator} no longer takes this currency or number.`);
	}
	return adapter.submit({
		reference: payment.reference,
		amountMinor: payment.amount_minor,
		currency: payment.currency,
		payerPhone: payment.phone,
		paymentMethod: payment.payment_method,
		description: `Wi-Fi ${formatDuration(payment.duration, 'en')}`,
		callbackUrl: formatCallbackUrl(context, payment.operator, payment.reference),
		expiresAt: payment.expires_at
	});
}

const findWithSession = (queries: Reads, id: number) =>
	queries
		.selectFrom('payments')
		.innerJoin('sessions', 'sessions.id', 'payments.session_id')
		.selectAll('payments')
		.select(['sessions.status as session_status', 'sessions.duration'])
		.where('payments.id', '=', id)
		.executeTakeFirst();

/** The operator may have the request: a status read decides soon. */
async function markUncertain({ clock, database, jobs }: BillingJob, id: number): Promise<null> {
	const from = { id, submit_state: ['submitting', 'created'] as const };
	await database.transact(async (trx) => {
		await changePayment(trx, from, { submit_state: 'uncertain' });
		await jobs.schedule(trx, RECONCILE_JOB, id, clock.now() + RETRY_MS);
	});
	return null;
}

/** The operator queued nothing: the request is sent again later, or the payment fails. */
async function handleRefusal(
	context: BillingJob,
	{ id, submitted_at, expires_at: expiresAt }: PaymentRow,
	outcome: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	// An earlier request got no answer, and this refusal says nothing about it.
	if (submitted_at !== null && !outcome.retryable) return markUncertain(context, id);
	const back = { submit_state: 'created', submitted_at } as const;
	const now = context.clock.now();
	const to = outcome.retryable ? back : ({ submit_state: 'refused' } as const);
	// After SUBMITTING_MAX_MS a status read decides.
	if (!(await writePayment(context, { id, submit_state: ['submitting'] }, to))) return null;
	if (outcome.retryable) {
		const at = now + Math.max(RETRY_MS, (outcome.retryAfterSeconds ?? 0) * 1000);
		return Math.max(now, Math.min(at, expiresAt));
	}
	await settleFailure(context, id, failureCode(outcome.reason), REFUSED);
	return null;
}

/** Keeps the request that settled it. */
const keepFirst = (reference: string | null) =>
	sql<string | null>`coalesce(operator_reference, ${reference})`;

/**
 * Handles RECONCILE_JOB. If another run has taken over, that one may have asked before this one, and may wait for hours: the
 * operator is asked again now.
 */
export const runReconcileJob = (context: BillingJob, id: number): Promise<number | null> =>
	repairIfLost(reconcilePayment(context, id), () => context.jobs.wake(RECONCILE_JOB, id));

/** @returns when to ask again, or null if the result is final */
async function reconcilePayment(context: BillingJob, id: number): Promise<number | null> {
	const { database, clock, log, operators } = context;
	const payment = await findPayment(database.db, id);
	if (!payment) return null;
	if (!mayStillBePaid(payment)) return findAmount(context, payment);
	if (payment.submit_state === 'created' && payment.submitted_at === null && !claimsSuccess(payment)) {
		// Still in the outbox, and no callback calls it paid. A failed one is never sent.
		return payment.status === 'pending' ? clock.now() + computeDelay(payment, clock.now()) : null;
	}
	if (
		payment.submit_state === 'submitting' &&
		clock.now() - (payment.submitted_at ?? 0) > SUBMITTING_MAX_MS
	) {
		await writePayment(context, { id, submit_state: ['submitting'] }, { submit_state: 'uncertain' });
	}

	const adapter = operators.find(payment.operator);
	if (!adapter) log.error({ payment: id, operator: payment.operator }, 'operator is not configured');
	const outcome = adapter
		? await askOperator(context, payment, adapter)
		: unavailable(`Operator ${payment.operator} is not configured.`);
	// The next read counts from here: what follows lets others see the answer, and they act on it.
	const now = clock.now();
	if (isCrowded(outcome)) return now + CROWDED_MS;
	await keepAnswer(context, payment, 'status', outcome);
	if (outcome.kind !== 'not_found' && payment.not_found_count > 0) {
		await writePayment(context, { id }, { not_found_count: 0 });
	}

	if (outcome.kind === 'succeeded') {
		await settleSuccess(context, id, outcome);
		const isTold =
			!adapter?.readAmount || (await isAmountTold(context, await findPaymentOrThrow(database.db, id)));
		return isTold ? null : now + AMOUNT_MS;
	}
	if (outcome.kind === 'failed' && payment.failure_code !== failureCode(outcome.reason)) {
		await settleFailure(context, id, failureCode(outcome.reason));
	}
	if (outcome.kind === 'not_found' && adapter) await handleNotFound(context, payment, adapter);
	if (outcome.kind === 'contradiction') await writeReview(context, payment, 'contradiction', outcome.message);
	if (outcome.kind === 'unreadable' && payment.submit_state !== 'refused' && payment.expires_at <= now) {
		// A callback may still arrive, but no status read is possible, and the payer may have paid.
		await writeReview(context, payment, 'no_reference', outcome.cause);
	}
	return expireOrReadAgain(context, id, outcome, now);
}

/**
 * Asks for the amount of a success, if the operator tells it by callback only and no callback has. Access does not wait for it.
 * A person looks when nothing tells it.
 */
async function findAmount(context: BillingJob, payment: PaymentRow): Promise<number | null> {
	const { clock, operators } = context;
	const { operator, reference, paid_at } = payment;
	const isKept = payment.status === 'success' || payment.status === 'refund_pending';
	const adapter = operators.find(operator);
	if (!isKept || !adapter?.readAmount || (await isAmountTold(context, payment))) return null;
	const now = clock.now();
	if (now - (paid_at ?? now) >= AMOUNT_MAX_MS) {
		const detail = 'the operator says that the payer paid, and no message has told how much';
		await writeReview(context, payment, 'amount_unknown', detail);
		return null;
	}
	const request = {
		...describeAttempt(payment),
		callbackUrl: formatCallbackUrl(context, operator, reference)
	};
	const outcome = await adapter.readAmount(request);
	if (outcome.kind !== 'succeeded') return clock.now() + AMOUNT_MS;
	await context.database.transact((trx) =>
		completeReceipt(context, trx, payment.id, { operatorReference: null, ...outcome })
	);
	return null;
}

async function isAmountTold({ database }: BillingJob, payment: PaymentRow): Promise<boolean> {
	if (payment.settled_minor !== null || parseClaim(payment)?.amountMinor != null) return true;
	const about = { subject: `payment ${payment.id}`, reason: 'amount_mismatch' };
	return (await findSameReviews(database.db, about)).length > 0;
}

/** The payer may still be charged, or may have been charged without our knowledge. */
const mayStillBePaid = (payment: PaymentRow) =>
	payment.status === 'pending' || payment.status === 'expired' || payment.status === 'failed';

const writeReview = (context: BillingJob, { id, phone }: PaymentRow, reason: ReviewReason, message: string) =>
	context.database.transact((trx) => openReview(context, trx, id, reason, redactMessage(message, phone)));

/** Opens a review if a callback said that the payment was paid, which no status read confirms. */
async function reviewClaim(context: BillingJob, payment: PaymentRow, said: string): Promise<boolean> {
	const claim = parseClaim(payment);
	if (claim?.claimed !== 'succeeded') return false;
	await writeReview(context, payment, 'no_final_answer', formatUnconfirmed(claim, said));
	return true;
}

function formatUnconfirmed({ providerReference }: CallbackClaim, said: string): string {
	const receipt = providerReference === null ? '' : `, receipt ${providerReference}`;
	return `A callback said that it was paid${receipt}; the status read says: ${said}`;
}

async function askOperator(
	context: BillingJob,
	payment: PaymentRow,
	adapter: OperatorAdapter
): Promise<StatusOutcome> {
	const claim = parseClaim(payment);
	const outcome = await adapter.readStatus(describeAttempt(payment));
	const other = await findOtherNamed(context, payment, outcome);
	if (other) {
		const message = `a callback names request ${other.operator_reference}, which is of payment ${other.id}`;
		return { kind: 'contradiction', message, raw: 'raw' in outcome ? outcome.raw : '' };
	}
	if (outcome.kind !== 'failed' || claim?.claimed !== 'succeeded') return outcome;
	return { kind: 'contradiction', message: formatUnconfirmed(claim, outcome.message), raw: outcome.raw };
}

/** Returns the other payment whose request a callback named as paid for this one. */
async function findOtherNamed({ database }: BillingJob, payment: PaymentRow, outcome: StatusOutcome) {
	if (outcome.kind !== 'succeeded' || !outcome.operatorReference) return undefined;
	if (outcome.operatorReference === payment.operator_reference) return undefined;
	return findSentAs(database.db, payment, outcome.operatorReference);
}

/**
 * Handles a reference that the operator does not know. Sends it again while the buyer waits, if that is
 * harmless. Otherwise the payment fails only after the operator had time to catch up. Reads continue in both
 * cases: an operator may be slower than it says.
 */
async function handleNotFound(
	context: BillingJob,
	payment: PaymentRow,
	{ capabilities: { resubmitSameReferenceSafe, notFoundFinalSeconds } }: OperatorAdapter
): Promise<void> {
	const { database, clock } = context;
	const count = payment.not_found_count + 1;
	await writePayment(context, { id: payment.id }, { not_found_count: count });
	const current = await findPayment(database.db, payment.id);
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

/** Returns a request that never arrived to the outbox, with the same reference. */
async function resubmit(context: BillingJob, id: number): Promise<void> {
	const { database, clock, jobs } = context;
	await database.transact(async (trx) => {
		const from = { id, submit_state: ['uncertain'] as const };
		const back = await changePayment(trx, from, { submit_state: 'created', not_found_count: 0 });
		if (back) await jobs.schedule(trx, SUBMIT_JOB, id, clock.now());
	});
}

/** Returns when to read again; null after the last read. Stores an expiry that is due, and what a person must decide. */
async function expireOrReadAgain(context: BillingJob, id: number, outcome: StatusOutcome, now: number) {
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
	const at = now + Math.max(wanted, computeDelay(payment, now));
	// Read at the moment of expiry, before the page says "expired".
	return payment.status === 'pending' ? Math.max(now, Math.min(at, payment.expires_at)) : at;
}

async function expireWhenDue(context: BillingJob, id: number, now: number) {
	const { db } = context.database;
	const payment = await findPayment(db, id);
	if (payment?.status !== 'pending' || payment.expires_at > now) return payment;
	await settleExpired(context, id);
	return findPayment(db, id);
}

/** The operator refused the request, and knows nothing of it. */
const isRefused = ({ submit_state: state }: PaymentRow, { kind }: StatusOutcome): boolean =>
	state === 'refused' && (kind === 'not_found' || kind === 'unreadable');

/** The operator says that nothing was paid, whatever the page said before. */
function saysUnpaid({ status, submit_state: state }: PaymentRow, { kind }: StatusOutcome): boolean {
	// A failed payment that the operator calls pending may still be charged. No answer says nothing.
	if (status === 'failed') return kind !== 'pending' && kind !== 'unavailable';
	return kind === 'failed' || (kind === 'not_found' && state === 'uncertain');
}

/**
 * Asks no more after RECONCILE_HOURS. A person decides, unless the operator has long called a failed payment unpaid, or the
 * same question has been asked. A payment that the operator still calls pending may be charged yet.
 */
async function giveUp(context: BillingJob, payment: PaymentRow): Promise<null> {
	const { database, config } = context;
	const last = await findLastStatusAnswer(database.db, payment.id);
	if (last?.outcome !== 'pending') {
		if (payment.status === 'failed' || (await hasAskedIfPaid(database.db, payment.id))) return null;
	}
	const detail = `no final answer in ${config.reconcileMs / HOUR_MS} hours, so Airtill asks no more`;
	await writeReview(context, payment, 'no_final_answer', detail);
	return null;
}

const computeDelay = (payment: PaymentRow, now: number): number =>
	computePollDelayMs({
		ageMs: Math.max(0, now - (payment.submitted_at ?? payment.created_at)),
		uncertain: payment.submit_state === 'uncertain',
		hasFailed: payment.status === 'failed'
	});
