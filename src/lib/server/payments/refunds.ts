import type { StatusOutcome, SubmitOutcome } from '../operators/operator.ts';
import type { PaymentsContext } from './context.ts';
import { keepMessage, keepWhenNew } from './messages.ts';
import { nextPollDelayMs } from './poll-schedule.ts';
import { note } from './settlement.ts';
import * as store from './store.ts';

/**
 * Sends money back. The same care as on the way in: the refund has its own reference, stored before the call;
 * an answer that is lost is resolved by a status read; only the operator's word ends it.
 */

const RETRY_MS = 5_000;
const SUBMITTING_MAX_MS = 60_000;

/** Job REFUND_JOB; its subject is the refund. Returns when to look again, or null when it is over. */
export async function refundPayment(context: PaymentsContext, refundId: number): Promise<number | null> {
	const { database, clock, operators } = context;
	const refund = await store.findRefund(database.db, refundId);
	if (!refund || refund.status !== 'pending') return null;
	const payment = await store.find(database.db, refund.payment_id);
	if (!payment) throw new Error(`Payment ${refund.payment_id} is gone`);
	const adapter = operators.byId(payment.operator);
	if (!adapter.refund || !adapter.readRefund) {
		await finish(context, refund, 'failed', 'refund_not_supported');
		return null;
	}

	if (refund.submit_state === 'created') {
		await setSubmit(context, refund, 'submitting');
		const outcome = await attempt<SubmitOutcome>(
			context,
			() =>
				adapter.refund?.({
					reference: refund.reference,
					payment: {
						reference: payment.reference,
						operatorReference: payment.operator_reference,
						providerReference: payment.provider_reference
					},
					amountMinor: refund.amount_minor,
					currency: refund.currency,
					payerPhone: payment.phone
				}),
			{ kind: 'uncertain', cause: 'network', raw: 'adapter error' }
		);
		await keepMessage(context, payment.id, 'refund', outcome.kind, outcome.raw);
		if (outcome.kind === 'refused' && !outcome.retryable) {
			await finish(context, refund, 'failed', 'refund_refused');
			return null;
		}
		const state = outcome.kind === 'refused' ? 'created' : outcome.kind;
		await setSubmit(context, refund, state);
		return clock.now() + adapter.capabilities.minStatusDelaySeconds * 1000;
	}

	if (refund.submit_state === 'submitting' && clock.now() - refund.updated_at > SUBMITTING_MAX_MS) {
		await setSubmit(context, refund, 'uncertain');
		return clock.now();
	}
	const outcome = await attempt<StatusOutcome>(
		context,
		() =>
			adapter.readRefund?.({
				reference: refund.reference,
				operatorReference: null,
				submittedAt: refund.updated_at,
				payment: {
					reference: payment.reference,
					operatorReference: payment.operator_reference,
					providerReference: payment.provider_reference
				}
			}),
		{
			kind: 'unavailable',
			cause: 'adapter error',
			retryAfterSeconds: null
		}
	);
	await keepWhenNew(
		context,
		payment.id,
		'refund',
		outcome.kind,
		'raw' in outcome ? outcome.raw : outcome.cause
	);
	if (outcome.kind === 'succeeded') {
		await finish(context, refund, 'succeeded', null);
		return null;
	}
	if (outcome.kind === 'failed') {
		await finish(context, refund, 'failed', 'refund_failed');
		return null;
	}
	if (
		outcome.kind === 'not_found' &&
		refund.submit_state === 'uncertain' &&
		adapter.capabilities.resubmitSameReferenceSafe
	) {
		await setSubmit(context, refund, 'created');
		return clock.now() + RETRY_MS;
	}
	const ageMs = Math.max(0, clock.now() - refund.created_at);
	if (ageMs > context.config.reconcileMs) {
		await store.flagForReview(database.db, payment.id, 'refund_no_final_answer');
	}
	return clock.now() + nextPollDelayMs({ ageMs, uncertain: false, settled: false });
}

async function attempt<T>(
	context: PaymentsContext,
	call: () => Promise<T> | undefined,
	fallback: T
): Promise<T> {
	try {
		return (await call()) ?? fallback;
	} catch (error) {
		context.log.error({ err: error }, 'operator adapter failed at refund');
		return fallback;
	}
}

async function setSubmit(
	context: PaymentsContext,
	refund: store.RefundRow,
	state: store.RefundRow['submit_state']
): Promise<void> {
	await store.changeRefund(
		context.database.db,
		{ id: refund.id, status: 'pending' },
		{ submit_state: state, updated_at: context.clock.now() }
	);
}

/** The operator's last word on a refund, on the refund and its payment at once. */
async function finish(
	context: PaymentsContext,
	refund: store.RefundRow,
	status: 'succeeded' | 'failed',
	review: string | null
): Promise<void> {
	const { database, clock, changes } = context;
	await database.transact(async (trx) => {
		const now = clock.now();
		const from = { id: refund.id, status: 'pending' } as const;
		if (!(await store.changeRefund(trx, from, { status, updated_at: now }))) return;
		const payment = await store.change(
			trx,
			{ id: refund.payment_id, status: ['refund_pending'] },
			status === 'succeeded'
				? { status: 'refunded', refunded_at: now, updated_at: now }
				: { status: 'refund_failed', updated_at: now }
		);
		if (payment && status === 'succeeded') await note(context, trx, 'payment.refunded', payment);
		if (review !== null) await store.flagForReview(trx, refund.payment_id, review);
	});
	changes.announce(refund.payment_id);
}
