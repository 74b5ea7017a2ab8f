import { dataLeft } from '#lib/domain/data-limit.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import type { SessionsContext } from './context.ts';
import { sessionAtOwner, visible } from './read-session.ts';
import * as store from './store.ts';
import { applyDueChange, extraTimeUntil, findOrThrow, transition } from './transition.ts';

type SessionRow = store.SessionRow;

/**
 * Ends an active session and those that follow it in its pass, or cancels an unpaid one.
 * @param onlyStatus acts only in this status. `pending_payment` includes a timed-out session: its late
 * payment is then refunded, without a second event.
 * @throws AppError `session_not_found`, `session_not_active`
 */
export async function endSession(
	context: SessionsContext,
	caller: Caller,
	id: number,
	onlyStatus?: SessionRow['status']
): Promise<SessionRow> {
	return context.database.transact(async (trx) => {
		const row = await applyDueChange(context, trx, await visible(trx, caller, id));
		const reason = row.account_id === caller.accountId ? 'client_ended' : 'admin_ended';
		const isWanted = onlyStatus === undefined || onlyStatus === row.status;
		const ended = isWanted ? await endOrCancel(context, trx, row, reason) : undefined;
		if (ended) return ended;
		const refused = onlyStatus === 'pending_payment' ? await refuseLatePayment(context, trx, row) : null;
		if (refused) return refused;
		throw new AppError('session_not_active', `The session is ${row.status}; there is nothing to end.`, {
			extensions: { session_status: row.status }
		});
	});
}

async function endOrCancel(context: SessionsContext, trx: Tx, row: SessionRow, reason: string) {
	if (row.status === 'active') return endTime(context, trx, row, reason);
	if (row.status === 'pending_payment') return cancelUnpaid(context, trx, row.id, 'client_cancelled');
	return undefined;
}

/**
 * Ends the running time of a session at a router of this owner, also extra time after its end, and the time that follows
 * it in its pass. Refunds nothing.
 * @returns false if no time runs; then nothing changes
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export const endForOwner = (
	context: SessionsContext,
	accountId: number,
	id: number,
	{ by, note }: { by: string; note: string }
): Promise<boolean> =>
	context.database.transact(async (trx) => {
		const row = await sessionAtOwner(context, trx, accountId, id);
		const isActive = row.status === 'active';
		const until = isActive ? row.expires_at : await extraTimeUntil(context, trx, row);
		if (until === null) return false;
		if (isActive) await endTime(context, trx, row, 'admin_ended');
		else await endExtraTime(context, trx, row);
		await context.audit.record(trx, {
			actor: by,
			action: 'session.ended',
			paymentId: row.payment_id,
			reason: note,
			before: { session: id, expires_at: until },
			after: { session: id, expires_at: context.clock.now() }
		});
		return true;
	});

/** Ends the time of a refunded session and takes back its data. No paid time may follow it in its pass. */
export async function endRefunded(context: SessionsContext, trx: Tx, row: SessionRow): Promise<void> {
	await endTime(context, trx, row, 'refunded');
	if (row.pass_id !== null) await takeDataBack(context, trx, row.pass_id, row.data_limit_mb);
}

export async function endExtraTime(context: SessionsContext, trx: Tx, row: SessionRow): Promise<void> {
	const runs = (await extraTimeUntil(context, trx, row)) !== null;
	if (runs && row.pass_id !== null) await shortenPass(context, trx, row.pass_id);
}

/** Takes back the data of a session, and ends the rest of the pass if it has used all that is left. */
async function takeDataBack(context: SessionsContext, trx: Tx, passId: number, dataLimitMb: number | null) {
	await context.passes.reduceDataLimit(trx, passId, dataLimitMb);
	const isRunning = (await store.activeOf(trx, passId)).length > 0;
	if (isRunning && dataLeft(await context.passes.findOrThrow(trx, passId)) === 0) {
		await endAtDataLimit(context, trx, passId);
	}
}

/** Ends an active session and those that follow it in its pass. */
async function endTime(context: SessionsContext, trx: Tx, row: SessionRow, reason: string) {
	const rows = [row, ...(await store.laterInPass(trx, row))];
	const [ended] = await leave(context, trx, rows, 'active', { status: 'ended', status_reason: reason });
	if (row.pass_id !== null) await shortenPass(context, trx, row.pass_id);
	return ended;
}

/** Changes sessions that are in a state. Returns those that were. */
async function leave(
	context: SessionsContext,
	trx: Tx,
	rows: readonly SessionRow[],
	from: SessionRow['status'],
	to: { status: 'cancelled' | 'ended'; status_reason: string }
): Promise<SessionRow[]> {
	const ended = { ...to, ...endedNow(context) };
	const left: (SessionRow | undefined)[] = [];
	for (const { id } of rows) left.push(await transition(context, trx, { id, status: from }, ended));
	return left.filter((row) => row !== undefined);
}

async function shortenPass({ passes, provisioning }: SessionsContext, trx: Tx, passId: number) {
	await passes.shorten(trx, passId);
	await provisioning.scheduleGatewayCalls(trx, passId);
}

/** Ends a running pass that has used its data, with all its sessions. Nothing is refunded. */
export async function endAtDataLimit(context: SessionsContext, trx: Tx, passId: number): Promise<void> {
	const rows = await store.activeOf(trx, passId);
	for (const row of rows) await applyDueChange(context, trx, row);
	await leave(context, trx, rows, 'active', { status: 'ended', status_reason: 'data_limit_reached' });
	await shortenPass(context, trx, passId);
}

function endedNow({ clock }: SessionsContext) {
	const now = clock.now();
	return { ended_at: now, updated_at: now };
}

export function cancelUnpaid(
	context: SessionsContext,
	trx: Tx,
	id: number,
	reason: 'client_cancelled' | 'provisioning_failed'
) {
	const to = { status: 'cancelled', status_reason: reason, ...endedNow(context) } as const;
	return transition(context, trx, { id, status: 'pending_payment' }, to);
}

/** Makes a timed-out session final: a late payment would otherwise buy it beside its replacement. */
function refuseLatePayment(context: SessionsContext, trx: Tx, { id, status_reason: reason }: SessionRow) {
	if (reason !== 'payment_timeout') return null;
	const from = { id, status: 'cancelled', status_reason: 'payment_timeout' } as const;
	return store.change(trx, from, { status_reason: 'client_cancelled', updated_at: context.clock.now() });
}

const FAILED = { status: 'cancelled', status_reason: 'provisioning_failed' } as const;

/** Cancels a pass's sessions that no gateway confirmed in time. The caller refunds their payments. */
export async function cancelWaiting(
	context: SessionsContext,
	trx: Tx,
	passId: number
): Promise<SessionRow[]> {
	const waiting = await store.ofPass(trx, passId, 'activating');
	const cancelled = await leave(context, trx, waiting, 'activating', FAILED);
	if (cancelled.length > 0) await context.passes.shorten(trx, passId);
	return cancelled;
}

/** Cancels time that no gateway received, even if it expired. Returns whether it was cancelled. */
export async function cancelUnconfirmed(context: SessionsContext, trx: Tx, id: number): Promise<boolean> {
	const { status, pass_id: passId } = await findOrThrow(trx, id);
	if ((status !== 'active' && status !== 'expired') || passId === null) return false;
	const to = { ...FAILED, starts_at: null, expires_at: null, ...endedNow(context) };
	const taken = await transition(context, trx, { id, status }, to);
	if (status === 'active') await context.passes.shorten(trx, passId);
	if (taken) await takeDataBack(context, trx, passId, taken.data_limit_mb);
	await context.provisioning.scheduleGatewayCalls(trx, passId);
	return taken !== undefined;
}
