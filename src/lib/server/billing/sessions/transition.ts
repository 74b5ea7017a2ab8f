import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { EventType } from '#lib/server/events/events.ts';
import { sessionBody } from './body.ts';
import type { SessionsContext } from './context.ts';
import * as store from './store.ts';

type SessionRow = store.SessionRow;

export async function findOrThrow(queries: Queries, id: number): Promise<SessionRow> {
	const row = await store.find(queries, id);
	if (!row) throw new Error(`Session ${id} is gone`);
	return row;
}

export async function shownSession({ clock, passes }: SessionsContext, queries: Queries, row: SessionRow) {
	const pass = row.pass_id === null ? null : await passes.findOrThrow(queries, row.pass_id);
	return sessionBody(row, pass, clock.now(), null);
}

export async function recordEvent(context: SessionsContext, trx: Tx, type: EventType, row: SessionRow) {
	await context.events.record(trx, {
		type,
		accountId: row.account_id,
		routerId: row.router_id,
		sessionId: row.id,
		paymentId: row.payment_id,
		// JSON omits undefined members: events carry no password, not even null.
		data: { ...(await shownSession(context, trx, row)), password: undefined }
	});
}

/** Changes a session and records the event. Returns undefined if the session left `from` meanwhile. */
export async function transition(
	context: SessionsContext,
	trx: Tx,
	from: Parameters<typeof store.change>[1],
	to: Parameters<typeof store.change>[2] & { status: 'active' | 'cancelled' | 'ended' | 'expired' }
): Promise<SessionRow | undefined> {
	const row = await store.change(trx, from, { updated_at: context.clock.now(), ...to });
	const event = `session.${to.status === 'active' ? 'activated' : to.status}` as const;
	if (row) await recordEvent(context, trx, event, row);
	return row;
}

export const isDue = (row: SessionRow, now: number): boolean =>
	(row.status === 'active' && row.expires_at !== null && row.expires_at <= now) ||
	(row.status === 'pending_payment' && row.payment_due_at <= now);

/** Returns a session after due changes. */
export const current = async (context: SessionsContext, trx: Tx, id: number): Promise<SessionRow> =>
	applyDueChange(context, trx, await findOrThrow(trx, id));

/** Applies a due change. Returns the session, changed or not. */
export async function applyDueChange(
	context: SessionsContext,
	trx: Tx,
	row: SessionRow
): Promise<SessionRow> {
	if (!isDue(row, context.clock.now())) return row;
	const changed = row.status === 'active' ? expire(context, trx, row) : timeOut(context, trx, row);
	return (await changed) ?? row;
}

async function expire(context: SessionsContext, trx: Tx, row: SessionRow) {
	const to = { status: 'expired', ended_at: row.expires_at } as const;
	const expired = await transition(context, trx, { id: row.id, status: 'active' }, to);
	if (expired?.pass_id != null) await closeIfOver(context, trx, expired.pass_id);
	return expired;
}

async function closeIfOver({ passes, provisioning }: SessionsContext, trx: Tx, passId: number) {
	await passes.eraseIfOver(trx, passId);
	await provisioning.scheduleGatewayCalls(trx, passId);
}

/** Returns the end of extra time that runs after a session's own (ms since the epoch); null if none does. */
export async function extraTimeUntil(
	{ passes }: SessionsContext,
	queries: Queries,
	row: Pick<SessionRow, 'id' | 'status' | 'ended_at' | 'pass_id'>
): Promise<number | null> {
	if (row.status !== 'expired' || row.pass_id === null) return null;
	if (!(await store.hasTimeAfterEnd(queries, row))) return null;
	// Paid time runs again, so the pass is not over after it.
	if ((await store.activeOf(queries, row.pass_id)).length > 0) return null;
	const pass = await passes.findOrThrow(queries, row.pass_id);
	return passes.isOpen(pass) ? pass.ends_at : null;
}

async function timeOut(context: SessionsContext, trx: Tx, row: SessionRow) {
	const payments = await store.openPayments(trx, row.id);
	if (payments.pending > 0) return undefined;
	// The grace period of a late payment counts from this instant, however late this runs.
	const endedAt = Math.max(row.payment_due_at, payments.expiry ?? 0);
	if (endedAt > context.clock.now()) return undefined;
	const to = { status: 'cancelled', status_reason: 'payment_timeout', ended_at: endedAt } as const;
	return transition(context, trx, { id: row.id, status: 'pending_payment' }, to);
}

/** Checks a session with an open payment again after this time. */
const CANCEL_AGAIN_MS = 30_000;

/** Handles SESSION_END_JOB. @returns when to run again, or null if the session and its extra time are over */
export async function runSessionJob(context: SessionsContext, id: number): Promise<number | null> {
	const { database, clock } = context;
	const { row, extraUntil } = await database.transact(async (trx) => {
		const before = await findOrThrow(trx, id);
		const row = await applyDueChange(context, trx, before);
		// It ended before, so this is the end of extra time.
		if (before.ended_at !== null && before.pass_id !== null) await closeIfOver(context, trx, before.pass_id);
		return { row, extraUntil: await extraTimeUntil(context, trx, row) };
	});
	if (row.status === 'active') return row.expires_at;
	if (row.status !== 'pending_payment') return extraUntil;
	return Math.max(row.payment_due_at, clock.now() + CANCEL_AGAIN_MS);
}
