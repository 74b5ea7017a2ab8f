import { sql } from 'kysely';
import { formatDuration } from '#lib/domain/time.ts';
import { formatCallbackUrl, keepAnswer } from './operator-calls.ts';
import { busy, refused } from './operators/client.ts';
import { type SubmitOutcome, failureCode } from './operators/operator.ts';
import {
	type BillingJob,
	type PaymentRow,
	RECONCILE_JOB,
	changePayment,
	claimsSuccess,
	writePayment
} from './payments.ts';
import type { Reads } from '../db/database.ts';
import { settleFailure } from './settlement.ts';

/**
 * Sends a payment from the outbox to the operator, with its stored reference.
 *
 * Guarantees: a request is never sent while the operator may have it, nor after the buyer's waiting time. If
 * a process dies while sending, the row stays `submitting`, and a status read decides.
 */

const RETRY_MS = 5_000;
/** For the audit log. */
const REFUSED = 'the request was refused, so nothing was paid';

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
