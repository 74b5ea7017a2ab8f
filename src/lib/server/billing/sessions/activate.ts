import type { PassRow } from '#lib/server/access/passes/passes.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { takesLatePayment } from '#lib/server/routers/routers.ts';
import type { SessionsContext } from './context.ts';
import { startTime } from './start-time.ts';
import * as store from './store.ts';
import { known, settle } from './transition.ts';

type SessionRow = store.SessionRow;

/** Reasons to refund a successful payment. */
export type NotApplied = 'duplicate_payment' | 'session_cancelled' | 'late_payment';

/**
 * Buys a session's time. It starts now, at the end of its pass, or when a gateway confirms it. Returns null,
 * or the reason to refund the payment.
 */
export async function activate(
	context: SessionsContext,
	trx: Tx,
	id: number,
	paymentId: number
): Promise<NotApplied | null> {
	const row = await settle(context, trx, await known(trx, id));
	const refusal = await whyNot(context, trx, row);
	if (refusal !== null) return refusal;
	const from = {
		id,
		status: row.status,
		...(row.status_reason !== null && { statusReason: row.status_reason })
	};
	const paid = await store.change(trx, from, {
		...{ status: 'activating', status_reason: null, payment_id: paymentId, ended_at: null },
		updated_at: context.clock.now()
	});
	if (!paid) return 'duplicate_payment';
	await useTime(context, trx, paid);
	return null;
}

/** A timed-out session may still be bought within the grace period. */
async function whyNot(
	{ clock, config, routers }: SessionsContext,
	trx: Tx,
	row: SessionRow
): Promise<NotApplied | null> {
	if (row.status === 'pending_payment') return null;
	if (row.status !== 'cancelled') return 'duplicate_payment';
	if (row.status_reason !== 'payment_timeout') return 'session_cancelled';
	const router = await routers.known(trx, row.router_id);
	const inGrace = row.ended_at !== null && clock.now() <= row.ended_at + config.latePaymentMs;
	return inGrace && takesLatePayment(router) ? null : 'late_payment';
}

/** Adds a paid session to its pass, or begins a pass with it. */
async function useTime(context: SessionsContext, trx: Tx, paid: SessionRow): Promise<void> {
	const { passes, provisioning } = context;
	const open = await openPassOf(context, trx, paid);
	const pass = open ?? (await passes.create(trx, paid));
	if (open) await passes.addTerms(trx, open, paid);
	else await store.joinPass(trx, { passId: pass.id, sessionId: paid.id, replacesPassId: paid.pass_id });
	// Begins, or is refunded, together with the session that already waits.
	if (pass.activating_until !== null) return provisioning.changed(trx, pass.id);
	const until = open ? null : await provisioning.begin(trx, pass);
	if (until !== null) return passes.awaitGateway(trx, pass.id, until);
	await startTime(context, trx, pass);
}

async function openPassOf(
	{ passes }: SessionsContext,
	trx: Tx,
	{ pass_id: passId }: SessionRow
): Promise<PassRow | null> {
	if (passId === null) return null;
	const pass = await passes.known(trx, passId);
	return passes.isOpen(pass) ? pass : null;
}
