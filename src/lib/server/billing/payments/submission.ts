import { formatDuration } from '#lib/domain/duration.ts';
import type { SubmitOutcome } from '../operators/operator.ts';
import { busy, refused } from '../operators/outcomes.ts';
import { claimsSuccess } from '../callbacks/claims.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import { RECONCILE_JOB, SUBMIT_JOB, type BillingContext } from '../context.ts';
import { failureCode } from '../operators/failures.ts';
import { keepAnswer } from '../callbacks/messages.ts';
import { settleFailure } from './settlement.ts';
import * as store from './store.ts';

/**
 * Sends a payment from the outbox to the operator, with its stored reference.
 *
 * Guarantees: a request is never sent while the operator may have it, nor after the buyer's waiting time. If
 * a process dies while sending, the row stays `submitting`, and a status read decides.
 */

const RETRY_MS = 5_000;
/** A request that is on its way for longer was lost with its process: it counts as uncertain. */
export const SUBMITTING_MAX_MS = 60_000;

/** For the audit log. */
const REFUSED = 'the request was refused, so nothing was paid';

/** Handles SUBMIT_JOB. @returns when to try again, or null if nothing is left to send */
export async function submitPayment(context: BillingContext, id: number): Promise<number | null> {
	const { database, clock, sessions } = context;
	const payment = await store.find(database.db, id);
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

	const session = await sessions.findOrThrow(database.db, payment.session_id);
	const wanted = session.status === 'pending_payment';
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

	// After a pause of this process, another may have failed the payment, and nobody would ask for its result, or have
	// sent it, and a refusal of this request would say nothing about that one.
	const sentAt = clock.now();
	const sending = await store.change(
		database.db,
		{ id, submit_state: ['created'], status: ['pending'], submitted_at: payment.submitted_at },
		{ submit_state: 'submitting', submitted_at: sentAt }
	);
	// Another run sends it. If that one has lost its lease, what it plans after a refusal is ignored, so this one looks again.
	if (!sending) return sentAt + SUBMITTING_MAX_MS;

	const outcome = await send(context, payment, session.duration);
	await keepAnswer(context, payment, 'submit', outcome);
	switch (outcome.kind) {
		case 'accepted':
			await store.change(
				database.db,
				{ id, submit_state: ['submitting', 'uncertain'] },
				{ submit_state: 'accepted', operator_reference: store.unlessNamed(outcome.operatorReference) }
			);
			return null;
		case 'refused':
			return handleRefusal(context, payment, sentAt, outcome);
		case 'uncertain':
			return markUncertain(context, id);
	}
}

async function send(
	context: BillingContext,
	payment: store.PaymentRow,
	duration: string
): Promise<SubmitOutcome> {
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
		description: `Wi-Fi ${formatDuration(duration, 'en')}`,
		callbackUrl: callbackUrl(context, payment.operator, payment.reference),
		expiresAt: payment.expires_at
	});
}

/** The operator may have the request: a status read decides soon. */
async function markUncertain(context: BillingContext, id: number): Promise<null> {
	const { clock, database, jobs } = context;
	const at = clock.now() + RETRY_MS;
	const from = { id, submit_state: ['submitting', 'created'] as const };
	await store.change(database.db, from, { submit_state: 'uncertain' });
	await jobs.schedule(database.db, RECONCILE_JOB, id, at);
	return null;
}

/** The operator queued nothing: the request is sent again later, or the payment fails. */
async function handleRefusal(
	context: BillingContext,
	{ id, submitted_at, expires_at: expiresAt }: store.PaymentRow,
	sentAt: number,
	outcome: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	const { database, clock } = context;
	// An earlier request got no answer, and this refusal says nothing about it.
	if (submitted_at !== null && !outcome.retryable) return markUncertain(context, id);
	const back = { submit_state: 'created', submitted_at } as const;
	const now = clock.now();
	const isOwn = await store.change(
		database.db,
		{ id, submit_state: ['submitting'], submitted_at: sentAt },
		outcome.retryable ? back : { submit_state: 'refused' }
	);
	// After a pause of this process, another has asked for the result or sent it again.
	if (!isOwn) return null;
	if (outcome.retryable) {
		const at = now + Math.max(RETRY_MS, (outcome.retryAfterSeconds ?? 0) * 1000);
		return Math.max(now, Math.min(at, expiresAt));
	}
	await settleFailure(context, id, failureCode(outcome.reason), REFUSED);
	return null;
}

/** Returns a request that never arrived to the outbox, with the same reference. */
export async function resubmit(context: BillingContext, id: number): Promise<void> {
	const { database, clock, jobs } = context;
	await database.transact(async (trx) => {
		const from = { id, submit_state: ['uncertain'] as const };
		const back = await store.change(trx, from, { submit_state: 'created', not_found_count: 0 });
		if (back) await jobs.schedule(trx, SUBMIT_JOB, id, clock.now());
	});
}
