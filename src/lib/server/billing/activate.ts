import type { PassRow } from '../passes/passes.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { findRouterOrThrow, lacksNetworkPassword, takesLatePayment } from '#lib/server/routers/routers.ts';
import { SESSION_END_JOB, type SessionsContext } from './sessions.ts';
import { cancelUnpaid, current, transition } from './session-states.ts';
import * as store from './session-store.ts';

type SessionRow = store.SessionRow;

/** Reasons to refund a successful payment. */
export type UnappliedReason =
	'duplicate_payment' | 'session_cancelled' | 'late_payment' | 'provisioning_failed';

/**
 * Buys a session's time. It starts now, at the end of its pass, or when a gateway confirms it. Returns null,
 * or the reason to refund the payment.
 */
export async function activate(
	context: SessionsContext,
	trx: Tx,
	id: number,
	paymentId: number
): Promise<UnappliedReason | null> {
	const row = await current(context, trx, id);
	const refusal = await reasonToRefund(context, trx, row);
	if (refusal === 'provisioning_failed') await cancelUnpaid(context, trx, row.id, refusal);
	if (refusal !== null) return refusal;
	const from = {
		id,
		status: row.status,
		...(row.status_reason !== null && { status_reason: row.status_reason })
	};
	const paid = await store.change(trx, from, {
		status: 'activating',
		status_reason: null,
		payment_id: paymentId,
		ended_at: null,
		updated_at: context.clock.now()
	});
	if (!paid) return 'duplicate_payment';
	await addToPass(context, trx, paid);
	return null;
}

/** A timed-out session may still be bought within the grace period, if the router is open and responds. */
async function reasonToRefund(
	{ clock, config }: SessionsContext,
	trx: Tx,
	row: SessionRow
): Promise<UnappliedReason | null> {
	if (row.status !== 'pending_payment' && row.status !== 'cancelled') return 'duplicate_payment';
	if (row.status === 'cancelled' && row.status_reason !== 'payment_timeout') return 'session_cancelled';
	const router = await findRouterOrThrow(trx, row.router_id);
	// The owner has changed the access since the order, and no password could let the buyer in.
	if (lacksNetworkPassword(router, row.access_kind)) return 'provisioning_failed';
	if (row.status === 'pending_payment') return null;
	const now = clock.now();
	const inGrace = row.ended_at !== null && now <= row.ended_at + config.latePaymentMs;
	return inGrace && takesLatePayment(router, config, now) ? null : 'late_payment';
}

/** Adds a paid session to its pass, or begins a pass with it. */
async function addToPass(context: SessionsContext, trx: Tx, paid: SessionRow): Promise<void> {
	const { passes, provisioning } = context;
	const open = await openPassOf(context, trx, paid);
	const pass = open ?? (await passes.create(trx, paid));
	if (open) await passes.addTerms(trx, open, paid);
	else await store.joinPass(trx, { passId: pass.id, sessionId: paid.id, replacesPassId: paid.pass_id });
	// The pass still waits for its gateway: this session starts or is refunded with it.
	if (pass.activating_until !== null) return provisioning.scheduleGatewayCalls(trx, pass.id);
	const until = open ? null : await provisioning.requestGrants(trx, pass);
	if (until !== null) return passes.setActivationDeadline(trx, pass.id, until);
	await startTime(context, trx, pass);
}

async function openPassOf(
	{ passes }: SessionsContext,
	trx: Tx,
	{ pass_id: passId }: SessionRow
): Promise<PassRow | null> {
	if (passId === null) return null;
	const pass = await passes.findOrThrow(trx, passId);
	return passes.isOpen(pass) ? pass : null;
}

/**
 * Starts the time of a pass's paid sessions, one after the other: now, or at the end of a running pass.
 *
 * All time starts here, including late successes and added time. Payments that succeed at once add up,
 * because transactions behave as if they ran one after the other.
 * @param pass as read in this transaction: another read would add conflicts on PostgreSQL
 * @returns false if no paid session waits
 */
export async function startTime(context: SessionsContext, trx: Tx, pass: PassRow): Promise<boolean> {
	const { clock, jobs, passes, provisioning } = context;
	const now = clock.now();
	const isRunning = pass.ends_at !== null && pass.ends_at > now;
	const startsAt = isRunning && pass.starts_at !== null ? pass.starts_at : now;
	let endsAt = isRunning && pass.ends_at !== null ? pass.ends_at : now;
	const waiting = await store.ofPass(trx, pass.id, 'activating');
	for (const { id, duration_seconds: seconds } of waiting) {
		const from = endsAt;
		endsAt += seconds * 1000;
		const to = { status: 'active', starts_at: from, expires_at: endsAt } as const;
		await transition(context, trx, { id, status: 'activating' }, to);
		await jobs.schedule(trx, SESSION_END_JOB, id, endsAt);
		if (from !== startsAt) await provisioning.scheduleUnconfirmedCheck(trx, id, from);
	}
	if (waiting.length === 0) return false;
	await passes.setTime(trx, pass.id, { startsAt, endsAt });
	await provisioning.scheduleGatewayCalls(trx, pass.id);
	return true;
}
