import { formatDuration } from '#lib/domain/duration.ts';
import type { PaymentRequest, SubmitOutcome } from '../operators/operator.ts';
import { callbackUrl } from '../callbacks/callback-url.ts';
import type { PaymentsContext } from './context.ts';
import { RECONCILE_JOB, SUBMIT_JOB } from './context.ts';
import { failureCode } from './failures.ts';
import { keepMessage } from '../callbacks/messages.ts';
import { settleFailure } from './settlement.ts';
import * as store from './store.ts';

/**
 * Sends a payment to the operator, from the outbox, with the reference that was stored before. What matters:
 * the request is never sent while it may already be with the operator (a process that died while sending
 * leaves `submitting` behind; only a status read can tell what happened), and never after the time in which the
 * buyer waits for it.
 */

const RETRY_MS = 5_000;

function requestFor(context: PaymentsContext, payment: store.PaymentRow, duration: string): PaymentRequest {
	return {
		reference: payment.reference,
		amountMinor: payment.amount_minor,
		currency: payment.currency,
		payerPhone: payment.phone,
		paymentMethod: payment.payment_method,
		description: `Wi-Fi ${formatDuration(duration, 'en')}`,
		callbackUrl: callbackUrl(context, payment.operator, payment.reference),
		expiresAt: payment.expires_at
	};
}

/** Job SUBMIT_JOB. Returns when to try again, or null when there is nothing more to send. */
export async function submitPayment(context: PaymentsContext, id: number): Promise<number | null> {
	const { database, clock, sessions, operators } = context;
	const payment = await store.find(database.db, id);
	if (!payment || payment.status !== 'pending') return null;
	if (payment.submit_state === 'submitting') return uncertain(context, id);
	if (payment.submit_state !== 'created') return null;

	const session = await sessions.known(database.db, payment.session_id);
	const wanted = session.status === 'pending_payment';
	if (!wanted || payment.expires_at <= clock.now()) {
		// A prompt now would only surprise the payer. What was sent before may have arrived all the same.
		if (payment.submitted_at !== null) return uncertain(context, id);
		// Nothing was ever sent, so nothing can have been taken.
		await settleFailure(context, id, wanted ? 'provider_unavailable' : 'payer_rejected');
		return null;
	}

	const sending = await store.changeSubmit(
		database.db,
		{ id, submitState: ['created'] },
		{ submit_state: 'submitting', submitted_at: clock.now() }
	);
	if (!sending) return null;

	const outcome = await send(context, payment, session.duration);
	await keepMessage(context, payment, 'submit', outcome.kind, outcome.raw);
	switch (outcome.kind) {
		case 'accepted':
			await store.changeSubmit(
				database.db,
				{ id, submitState: ['submitting', 'uncertain'] },
				{ submit_state: 'accepted', operator_reference: outcome.operatorReference }
			);
			return null;
		case 'refused':
			return refused(context, payment, outcome);
		case 'uncertain':
			return uncertain(context, id);
	}

	async function send(
		{ log }: PaymentsContext,
		row: store.PaymentRow,
		duration: string
	): Promise<SubmitOutcome> {
		const adapter = operators.all().find((candidate) => candidate.id === row.operator);
		if (!adapter) {
			const message = `Operator ${row.operator} is not configured.`;
			return { kind: 'refused', reason: 'provider_busy', message, retryable: true, raw: message };
		}
		try {
			return await adapter.submit(requestFor(context, row, duration));
		} catch (error) {
			// An adapter that throws is a bug of ours, and says nothing about what the operator has.
			log.error({ err: error, payment: row.id }, 'operator adapter failed at submit');
			return { kind: 'uncertain', cause: 'network', raw: 'adapter error' };
		}
	}
}

/** It may be with the operator: the status read decides, soon. */
async function uncertain(context: PaymentsContext, id: number): Promise<null> {
	await store.changeSubmit(
		context.database.db,
		{ id, submitState: ['submitting', 'created'] },
		{ submit_state: 'uncertain' }
	);
	const { clock, jobs } = context;
	await jobs.schedule(context.database.db, RECONCILE_JOB, id, clock.now() + RETRY_MS);
	return null;
}

/** Certainly nothing was queued: the same request may go again later, or the payment has failed. */
async function refused(
	context: PaymentsContext,
	{ id, submitted_at }: store.PaymentRow,
	outcome: Extract<SubmitOutcome, { kind: 'refused' }>
): Promise<number | null> {
	const { database, clock } = context;
	// It was sent before without an answer: this refusal says nothing about that first time.
	if (submitted_at !== null && !outcome.retryable) return uncertain(context, id);
	if (outcome.retryable) {
		await store.changeSubmit(
			database.db,
			{ id, submitState: ['submitting'] },
			{ submit_state: 'created', submitted_at }
		);
		return clock.now() + Math.max(RETRY_MS, (outcome.retryAfterSeconds ?? 0) * 1000);
	}
	await store.changeSubmit(database.db, { id, submitState: ['submitting'] }, { submit_state: 'refused' });
	await settleFailure(context, id, failureCode(outcome.reason));
	return null;
}

/** Puts a request that never reached the operator back into the outbox, with the same reference. */
export async function resubmit(context: PaymentsContext, id: number): Promise<void> {
	const { database, clock, jobs } = context;
	await database.transact(async (trx) => {
		const from = { id, submitState: ['uncertain'] as const };
		const back = await store.changeSubmit(trx, from, { submit_state: 'created', not_found_count: 0 });
		if (back) await jobs.schedule(trx, SUBMIT_JOB, id, clock.now());
	});
	jobs.nudge();
}
