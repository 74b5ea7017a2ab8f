import type { Queries, Reads, Tx } from '../db/database.ts';
import type { EventType } from '../events.ts';
import {
	SESSION_END_JOB,
	type SessionServices,
	type SessionsContext,
	sessionAtOwner,
	sessionBody,
	visible
} from './sessions.ts';
import * as store from './session-store.ts';
import { dataLeft } from '#lib/domain/offers.ts';
import type { Caller } from '../accounts/accounts.ts';
import { AppError } from '../platform/errors.ts';
import { DAY_MS, durationSeconds } from '#lib/domain/time.ts';
import { EXTRA_TIME_AFTER_END_MS, type ExtraTime, MAX_EXTRA_MINUTES_PER_DAY } from '#lib/domain/help.ts';
import type { PassRow } from '../passes/passes.ts';
import { accountActor } from '../audit.ts';
import type { Fenced } from '../jobs.ts';
import { findRouterOrThrow, lacksNetworkPassword } from '../routers/routers.ts';

type SessionRow = store.SessionRow;

export async function findOrThrow(queries: Reads, id: number): Promise<SessionRow> {
	const row = await store.find(queries, id);
	if (!row) throw new Error(`Session ${id} is gone`);
	return row;
}

export async function shownSession({ clock, passes }: SessionServices, queries: Queries, row: SessionRow) {
	const pass = row.pass_id === null ? null : await passes.findOrThrow(queries, row.pass_id);
	return sessionBody(row, pass, clock.now(), null);
}

export async function recordEvent(context: SessionServices, trx: Tx, type: EventType, row: SessionRow) {
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
	context: SessionServices,
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
export const current = async (context: SessionServices, trx: Tx, id: number): Promise<SessionRow> =>
	applyDueChange(context, trx, await findOrThrow(trx, id));

/** Applies a due change. Returns the session, changed or not. */
export async function applyDueChange(
	context: SessionServices,
	trx: Tx,
	row: SessionRow
): Promise<SessionRow> {
	if (!isDue(row, context.clock.now())) return row;
	const changed = row.status === 'active' ? expire(context, trx, row) : timeOut(context, trx, row);
	return (await changed) ?? row;
}

async function expire(context: SessionServices, trx: Tx, row: SessionRow) {
	const to = { status: 'expired', ended_at: row.expires_at } as const;
	const expired = await transition(context, trx, { id: row.id, status: 'active' }, to);
	if (expired?.pass_id != null) await closeIfOver(context, trx, expired.pass_id);
	return expired;
}

async function closeIfOver({ passes, provisioning }: SessionServices, trx: Tx, passId: number) {
	await passes.eraseIfOver(trx, passId);
	await provisioning.scheduleGatewayCalls(trx, passId);
}

/** Returns the end of extra time that runs after a session's own (ms since the epoch); null if none does. */
export async function extraTimeUntil(
	{ passes }: SessionServices,
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

async function timeOut(context: SessionServices, trx: Tx, row: SessionRow) {
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
export async function runSessionJob(
	{ database, ...context }: Fenced<SessionsContext>,
	id: number
): Promise<number | null> {
	const { row, extraUntil } = await database.transact(async (trx) => {
		const before = await findOrThrow(trx, id);
		const row = await applyDueChange(context, trx, before);
		// It ended before, so this is the end of extra time.
		if (before.ended_at !== null && before.pass_id !== null) await closeIfOver(context, trx, before.pass_id);
		return { row, extraUntil: await extraTimeUntil(context, trx, row) };
	});
	if (row.status === 'active') return row.expires_at;
	if (row.status !== 'pending_payment') return extraUntil;
	return Math.max(row.payment_due_at, context.clock.now() + CANCEL_AGAIN_MS);
}

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

async function endOrCancel(context: SessionServices, trx: Tx, row: SessionRow, reason: string) {
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
export async function endRefunded(context: SessionServices, trx: Tx, row: SessionRow): Promise<void> {
	await endTime(context, trx, row, 'refunded');
	if (row.pass_id !== null) await takeDataBack(context, trx, row.pass_id, row.data_limit_mb);
}

export async function endExtraTime(context: SessionServices, trx: Tx, row: SessionRow): Promise<void> {
	const runs = (await extraTimeUntil(context, trx, row)) !== null;
	if (runs && row.pass_id !== null) await shortenPass(context, trx, row.pass_id);
}

/** Takes back the data of a session, and ends the rest of the pass if it has used all that is left. */
async function takeDataBack(context: SessionServices, trx: Tx, passId: number, dataLimitMb: number | null) {
	await context.passes.reduceDataLimit(trx, passId, dataLimitMb);
	const isRunning = (await store.activeOf(trx, passId)).length > 0;
	if (isRunning && dataLeft(await context.passes.findOrThrow(trx, passId)) === 0) {
		await endAtDataLimit(context, trx, passId);
	}
}

/** Ends an active session and those that follow it in its pass. */
async function endTime(context: SessionServices, trx: Tx, row: SessionRow, reason: string) {
	const rows = [row, ...(await store.laterInPass(trx, row))];
	const [ended] = await leave(context, trx, rows, 'active', { status: 'ended', status_reason: reason });
	if (row.pass_id !== null) await shortenPass(context, trx, row.pass_id);
	return ended;
}

/** Changes sessions that are in a state. Returns those that were. */
async function leave(
	context: SessionServices,
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

async function shortenPass({ passes, provisioning }: SessionServices, trx: Tx, passId: number) {
	await passes.shorten(trx, passId);
	await provisioning.scheduleGatewayCalls(trx, passId);
}

/** Ends a running pass that has used its data, with all its sessions. Nothing is refunded. */
export async function endAtDataLimit(context: SessionServices, trx: Tx, passId: number): Promise<void> {
	const rows = await store.activeOf(trx, passId);
	for (const row of rows) await applyDueChange(context, trx, row);
	await leave(context, trx, rows, 'active', { status: 'ended', status_reason: 'data_limit_reached' });
	await shortenPass(context, trx, passId);
}

function endedNow({ clock }: SessionServices) {
	const now = clock.now();
	return { ended_at: now, updated_at: now };
}

export function cancelUnpaid(
	context: SessionServices,
	trx: Tx,
	id: number,
	reason: 'client_cancelled' | 'provisioning_failed'
) {
	const to = { status: 'cancelled', status_reason: reason, ...endedNow(context) } as const;
	return transition(context, trx, { id, status: 'pending_payment' }, to);
}

/** Makes a timed-out session final: a late payment would otherwise buy it beside its replacement. */
function refuseLatePayment(context: SessionServices, trx: Tx, { id, status_reason: reason }: SessionRow) {
	if (reason !== 'payment_timeout') return null;
	const from = { id, status: 'cancelled', status_reason: 'payment_timeout' } as const;
	return store.change(trx, from, { status_reason: 'client_cancelled', updated_at: context.clock.now() });
}

const FAILED = { status: 'cancelled', status_reason: 'provisioning_failed' } as const;

/** Cancels a pass's sessions that no gateway confirmed in time. The caller refunds their payments. */
export async function cancelWaiting(
	context: SessionServices,
	trx: Tx,
	passId: number
): Promise<SessionRow[]> {
	const waiting = await store.ofPass(trx, passId, 'activating');
	const cancelled = await leave(context, trx, waiting, 'activating', FAILED);
	if (cancelled.length > 0) await context.passes.shorten(trx, passId);
	return cancelled;
}

/** Cancels time that no gateway received, even if it expired. Returns whether it was cancelled. */
export async function cancelUnconfirmed(context: SessionServices, trx: Tx, id: number): Promise<boolean> {
	const { status, pass_id: passId } = await findOrThrow(trx, id);
	if ((status !== 'active' && status !== 'expired') || passId === null) return false;
	const to = { ...FAILED, starts_at: null, expires_at: null, ...endedNow(context) };
	const taken = await transition(context, trx, { id, status }, to);
	if (status === 'active') await context.passes.shorten(trx, passId);
	if (taken) await takeDataBack(context, trx, passId, taken.data_limit_mb);
	await context.provisioning.scheduleGatewayCalls(trx, passId);
	return taken !== undefined;
}

interface ExtraTimeOrder {
	/** The person who gives it. */
	personId: number;
	note: string;
	duration: ExtraTime;
	/** Names the form: sent twice with the same duration, it gives the time once. */
	form: string;
}

/**
 * Adds free time to the end of a running pass at a router of this owner, or opens one again whose time ended within
 * 24 hours. No session and no payment is created, so earnings do not count it. Gateways get the new end as they do for
 * paid time. A session that expired stays expired: its end and its event are final.
 * @returns `limit`: the person has given too much in 24 hours; `not_possible`: no time runs, and the time that ended
 * cannot go on. Then nothing changes.
 * @throws AppError `session_not_found`, also for a session at another owner's router
 */
export async function giveExtraTime(
	context: SessionsContext,
	accountId: number,
	id: number,
	{ personId, note, duration, form: token }: ExtraTimeOrder
): Promise<'given' | 'limit' | 'not_possible'> {
	const { database, clock, jobs, passes, provisioning, audit } = context;
	const form = `${token}:${id}:${duration}`;
	const seconds = durationSeconds(duration);
	return database.transact(async (trx) => {
		const row = await sessionAtOwner(context, trx, accountId, id);
		if (await store.hasExtraTime(trx, form)) return 'given';
		const running = await runningTime(context, trx, row);
		const time = running ?? (await endedTime(context, trx, row));
		if (!time) return 'not_possible';
		const { session, pass } = time;
		const now = clock.now();
		const given = await store.extraSecondsBy(trx, personId, now - DAY_MS);
		if (given + seconds > MAX_EXTRA_MINUTES_PER_DAY * 60) return 'limit';
		const endsAt = time.endsAt + seconds * 1000;
		// Not before its end, by which the page knows this time, also if the clock was set back.
		const givenAt = running ? now : Math.max(now, session.ended_at ?? now);
		const extra = { session_id: session.id, account_id: personId, form, seconds, created_at: givenAt };
		await store.insertExtraTime(trx, extra);
		await jobs.schedule(trx, SESSION_END_JOB, session.id, endsAt);
		if (running) {
			await store.change(trx, { id: session.id, status: 'active' }, { expires_at: endsAt, updated_at: now });
		}
		if (passes.isOpen(pass)) await passes.setTime(trx, pass.id, { startsAt: pass.starts_at ?? now, endsAt });
		else {
			await passes.reopen(trx, pass, endsAt);
			await provisioning.requestGrants(trx, pass);
		}
		await provisioning.scheduleGatewayCalls(trx, pass.id);
		await audit.record(trx, {
			actor: accountActor(personId),
			action: 'session.extra_time',
			paymentId: session.payment_id,
			reason: note,
			before: { session: session.id, expires_at: time.endsAt },
			after: { router_id: session.router_id, session: session.id, expires_at: endsAt, seconds }
		});
		return 'given';
	});
}

interface ExtendableTime {
	/** The last session of the pass. */
	session: store.SessionRow;
	pass: PassRow;
	/** Extra time follows this (ms since the epoch). */
	endsAt: number;
}

async function runningTime(
	{ passes }: SessionServices,
	trx: Tx,
	{ status, pass_id: passId }: store.SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await store.activeOf(trx, passId)).at(-1);
	if (status !== 'active' || session?.pass_id == null || session.expires_at === null) return null;
	return { session, pass: await passes.findOrThrow(trx, session.pass_id), endsAt: session.expires_at };
}

async function endedTime(
	{ clock, passes }: SessionServices,
	trx: Tx,
	{ status, pass_id: passId, router_id: routerId }: store.SessionRow
): Promise<ExtendableTime | null> {
	const session = passId === null ? undefined : (await store.ofPass(trx, passId, 'expired')).at(-1);
	if (status !== 'expired' || passId === null || session?.ended_at == null) return null;
	const [pass, router] = [await passes.findOrThrow(trx, passId), await findRouterOrThrow(trx, routerId)];
	const now = clock.now();
	const mayGoOn =
		now <= session.ended_at + EXTRA_TIME_AFTER_END_MS &&
		router.disabled_at === null &&
		!lacksNetworkPassword(router, pass.access_kind) &&
		dataLeft(pass) !== 0 &&
		pass.activating_until === null &&
		(await store.activeOf(trx, passId)).length === 0 &&
		(await store.isStillPaid(trx, session));
	return mayGoOn ? { session, pass, endsAt: Math.max(now, pass.ends_at ?? now) } : null;
}
