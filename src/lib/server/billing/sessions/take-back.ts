import type { Tx } from '#lib/server/db/database.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';
import { known, transition } from './transition.ts';

type SessionRow = store.SessionRow;

const FAILED = { status: 'cancelled', status_reason: 'provisioning_failed' } as const;

/** Cancels a pass's sessions that no gateway confirmed in time. The caller refunds their payments. */
export async function cancelWaiting(
	context: SessionsContext,
	trx: Tx,
	passId: number
): Promise<SessionRow[]> {
	const to = { ...FAILED, ended_at: context.clock.now() };
	const cancelled: SessionRow[] = [];
	for (const { id } of await store.activatingOf(trx, passId)) {
		const row = await transition(context, trx, { id, status: 'activating' }, to, 'session.cancelled');
		if (row) cancelled.push(row);
	}
	if (cancelled.length > 0) await context.passes.shorten(trx, passId);
	return cancelled;
}

/** Cancels added time that no gateway received, even if it expired. Returns whether it was cancelled. */
export async function takeBack(context: SessionsContext, trx: Tx, id: number): Promise<boolean> {
	const { status, pass_id: passId } = await known(trx, id);
	if ((status !== 'active' && status !== 'expired') || passId === null) return false;
	const to = { ...FAILED, starts_at: null, expires_at: null, ended_at: context.clock.now() };
	const taken = await transition(context, trx, { id, status }, to, 'session.cancelled');
	if (status === 'active') await context.passes.shorten(trx, passId);
	await context.provisioning.changed(trx, passId);
	return taken !== undefined;
}
