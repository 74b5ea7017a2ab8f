import { Outdated, hold, holdLast, holdsEverything, type Held } from '../db/locks.ts';
import { type ExpressionBuilder, type Updateable, sql } from 'kysely';
import { toMajor } from '#lib/domain/money.ts';
import { dataLeft, dataMb, limitsOf } from '#lib/domain/offers.ts';
import { type WifiSecurity, asksUserName, endsByItself, loginUser, wifiQrText } from '#lib/domain/wifi.ts';
import type { Caller } from '../accounts/accounts.ts';
import type { Base } from '../base.ts';
import type { SessionBody } from '../contract/session.ts';
import type { Queries, Reads, Tx } from '../db/database.ts';
import { exists, findById } from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';
import type { EventType, Events } from '../events.ts';
import type { Fenced } from '../jobs.ts';
import {
	type HeldPass,
	type PassRow,
	addTerms,
	createPass,
	eraseIfOver,
	findPassOrThrow,
	isPassOpen,
	reduceDataLimit,
	setActivationDeadline,
	setPassTime,
	shortenPass
} from '../passes.ts';
import { isoTime } from '../platform/clock.ts';
import { Refused } from '../platform/errors.ts';
import {
	type RouterRow,
	type Routers,
	findRouterOrThrow,
	keepRouter,
	lacksNetworkPassword,
	takesLatePayment
} from '../routers/routers.ts';
import type { Operators } from './operators/registry.ts';
import { type Gateways } from '../gateways/gateways.ts';

/**
 * Sessions: purchases of time on a router.
 *
 * States:
 *
 *   pending_payment -> activating              a payment succeeded
 *   activating -> active                       the time starts; in the same transaction if no gateway must confirm it
 *   activating -> cancelled                    no gateway confirmed it in time; refunded
 *   active -> cancelled                        no gateway learnt of time that started unconfirmed; refunded
 *   pending_payment -> cancelled               DELETE, not paid in time, or paid and nothing could let in; refunded
 *   cancelled(payment_timeout) -> activating   a success within the grace period; a DELETE before it makes it client_cancelled
 *   active -> expired                          the clock
 *   expired -> cancelled                       no gateway learnt of its time, which is over; refunded
 *   active -> ended                            DELETE, its data is used, or its owner ends or refunds it
 *
 * Guarantees: a change applies only if the row is still in the state where it starts. Its event shares the
 * transaction. Sessions of one pass follow each other without a gap, except for extra time after the last one's end:
 * that opens the pass again and changes no session.
 */

export type SessionRow = Row<'sessions'>;
export type SessionStatus = SessionRow['status'];

export interface SessionsContext extends Base {
	events: Events;
	routers: Routers;
	operators: Operators;
	provisioning: Provisioning;
	gateways: Gateways;
}

export type SessionServices = Omit<SessionsContext, 'database'>;

/** Sessions call access/ through this, in the transaction that changes them. access/ is built on sessions. */
export interface Provisioning {
	/**
	 * Says at which gateways a paid pass is wanted, and makes them compare their state with it.
	 * @param router kept: who changes its gateways later finds the pass
	 * @returns the deadline for a confirmation (ms since the epoch), or null if the time may start now
	 */
	requestAdmissions(trx: Tx, router: RouterRow, pass: Held<PassRow>): Promise<number | null>;
	/** Makes gateways compare their state with the pass. */
	scheduleComparisons(trx: Tx, passId: number): Promise<void>;
	/**
	 * Schedules a check that the gateway received time added at `startsAt`, even if no gateway needs an admission yet: the
	 * device may move to one that does.
	 */
	scheduleUnconfirmedCheck(trx: Tx, sessionId: number, startsAt: number): Promise<void>;
}

/** One per session: cancels an unpaid session, expires a paid one. An older name: stored jobs have it. */
export const SESSION_END_JOB = 'session.settle';

/** Stores a response in the transaction of its effect. `status` replaces the route's own. */
export type RememberBody<T> = (trx: Tx, body: T, status?: 200 | 201) => Promise<void>;

/** Reasons to refund a successful payment. */
export type UnappliedReason =
	'duplicate_payment' | 'session_cancelled' | 'late_payment' | 'provisioning_failed';

/**
 * Buys a session's time. It starts now, at the end of its pass, or when a gateway confirms it. Returns null,
 * or the reason to refund the payment.
 */
export async function activateSession(
	context: SessionServices,
	trx: Tx,
	session: HeldSession,
	paymentId: number
): Promise<UnappliedReason | null> {
	const row = await applyDueChange(context, trx, session);
	// Added time keeps it later, if at all: who holds a pass does not wait for a router whose passes change.
	const find = row.pass_id === null ? keepRouter : findRouterOrThrow;
	const router = await find(trx, row.router_id);
	const refusal = decideRefund(context, router, row);
	if (refusal === 'provisioning_failed') await cancelUnpaid(context, trx, row, refusal);
	if (refusal !== null) return refusal;
	await addToPass(context, trx, router, row, paymentId);
	return null;
}

/**
 * Returns why a payment buys nothing, or null. A timed-out session may still be bought within the grace period, if the
 * router is open and responds.
 */
function decideRefund(
	{ clock, config }: SessionServices,
	router: RouterRow,
	row: SessionRow
): UnappliedReason | null {
	if (row.status !== 'pending_payment' && row.status !== 'cancelled') return 'duplicate_payment';
	if (row.status === 'cancelled' && row.status_reason !== 'payment_timeout') return 'session_cancelled';
	// The owner has changed the access since the order, and no password could let the buyer in.
	if (lacksNetworkPassword(router, row.access_kind)) return 'provisioning_failed';
	if (row.status === 'pending_payment') return null;
	const now = clock.now();
	const inGrace = row.ended_at !== null && now <= row.ended_at + config.latePaymentMs;
	return inGrace && takesLatePayment(router, config, now) ? null : 'late_payment';
}

/** Adds a paid session to its pass, or begins a pass with it. */
async function addToPass(
	context: SessionServices,
	trx: Tx,
	router: RouterRow,
	row: HeldSession,
	paymentId: number
): Promise<void> {
	const { provisioning } = context;
	const held = findHeldPass(row);
	const before = held && (await findPassOrThrow(trx, held));
	if (before && isPassOpen(before, context.clock.now())) {
		const pass = await addTerms(context, trx, before, row);
		await setPaid(context, trx, row, { passId: pass.id, paymentId });
		// Otherwise the pass still waits for its gateway: this session starts or is refunded with it.
		if (pass.activating_until === null) await startTime(context, trx, pass);
		return provisioning.scheduleComparisons(trx, pass.id);
	}
	const kept = held ? await keepRouter(trx, row.router_id) : router;
	const pass = await createPass(context, trx, kept, row);
	const paid = await setPaid(context, trx, row, { passId: pass.id, paymentId });
	if (held) await moveOrders(trx, held.id, pass.id);
	const until = await provisioning.requestAdmissions(trx, kept, pass);
	if (until === null) await startTime(context, trx, pass, [paid]);
	else await setActivationDeadline(context, trx, pass, until);
}

async function setPaid(
	{ clock }: SessionServices,
	trx: Tx,
	row: HeldSession,
	{ passId, paymentId }: { passId: number; paymentId: number }
): Promise<HeldSession> {
	const to = { status: 'activating', status_reason: null, pass_id: passId, payment_id: paymentId } as const;
	const paid = await changeSession(
		trx,
		row,
		{ status: row.status },
		{ ...to, ended_at: null, updated_at: clock.now() }
	);
	if (!paid) throw new Error(`Session ${row.id} changed while it was held`);
	return paid;
}

/**
 * Starts the time of a pass's paid sessions, one after the other: now, or at the end of a running pass.
 *
 * All time starts here, including late successes and added time. Payments that succeed at once add up, because each holds
 * the pass before it reads its end.
 * @param sessions those that wait, if they are known
 * @returns false if no paid session waits; otherwise gateways must compare their state with the pass
 */
export async function startTime(
	context: SessionServices,
	trx: Tx,
	pass: Held<PassRow>,
	sessions?: readonly HeldSession[]
): Promise<boolean> {
	const { clock, jobs, provisioning } = context;
	const now = clock.now();
	const isRunning = pass.ends_at !== null && pass.ends_at > now;
	const startsAt = isRunning && pass.starts_at !== null ? pass.starts_at : now;
	let endsAt = isRunning && pass.ends_at !== null ? pass.ends_at : now;
	const waiting = sessions ?? (await findHeldSessions(trx, pass, 'activating'));
	for (const session of waiting) {
		const { id, duration_seconds: seconds } = session;
		const from = endsAt;
		endsAt += seconds * 1000;
		const to = { status: 'active', starts_at: from, expires_at: endsAt } as const;
		await transition(context, trx, session, 'activating', to, pass);
		await jobs.schedule(trx, SESSION_END_JOB, id, endsAt);
		if (from !== startsAt) await provisioning.scheduleUnconfirmedCheck(trx, id, from);
	}
	if (waiting.length === 0) return false;
	await setPassTime(context, trx, pass, { startsAt, endsAt });
	return true;
}

export async function findSessionOrThrow(queries: Reads, id: number): Promise<SessionRow> {
	const row = await findSession(queries, id);
	if (!row) throw new Error(`Session ${id} is gone`);
	return row;
}

async function findSessionBody(
	{ clock }: Pick<Base, 'clock'>,
	queries: Queries,
	row: SessionRow,
	known?: PassRow
) {
	const pass = known ?? (row.pass_id === null ? null : await findPassOrThrow(queries, row.pass_id));
	return describeSession(row, pass, clock.now(), null);
}

/** @param pass of the session, if it was read */
export async function recordEvent(
	context: SessionServices,
	trx: Tx,
	type: EventType,
	row: SessionRow,
	pass?: PassRow
) {
	await context.events.record(trx, {
		type,
		accountId: row.account_id,
		routerId: row.router_id,
		sessionId: row.id,
		paymentId: row.payment_id,
		// JSON omits undefined members: events carry no password, not even null.
		data: { ...(await findSessionBody(context, trx, row, pass)), password: undefined }
	});
}

/** Changes a session and records the event. Returns undefined if it is not in the state `status`. */
async function transition(
	context: SessionServices,
	trx: Tx,
	session: HeldSession,
	status: SessionStatus,
	to: Parameters<typeof changeSession>[3] & { status: 'active' | 'cancelled' | 'ended' | 'expired' },
	pass?: PassRow
): Promise<HeldSession | undefined> {
	const row = await changeSession(trx, session, { status }, { updated_at: context.clock.now(), ...to });
	const event = `session.${to.status === 'active' ? 'activated' : to.status}` as const;
	if (row) await recordEvent(context, trx, event, row, pass);
	return row;
}

export const isDue = (row: SessionRow, now: number): boolean =>
	(row.status === 'active' && row.expires_at !== null && row.expires_at <= now) ||
	(row.status === 'pending_payment' && row.payment_due_at <= now);

/** Holds a session, and returns it after due changes. */
export const lockCurrentSession = async (context: SessionServices, trx: Tx, id: number) =>
	applyDueChange(context, trx, await lockSessionOrThrow(trx, id));

/** Applies a due change. Returns the session, changed or not. */
export async function applyDueChange(
	context: SessionServices,
	trx: Tx,
	row: HeldSession
): Promise<HeldSession> {
	if (!isDue(row, context.clock.now())) return row;
	const changed = row.status === 'active' ? expire(context, trx, row) : timeOut(context, trx, row);
	return (await changed) ?? row;
}

async function expire(context: SessionServices, trx: Tx, row: HeldSession) {
	const to = { status: 'expired', ended_at: row.expires_at } as const;
	const expired = await transition(context, trx, row, 'active', to);
	const pass = expired && findHeldPass(expired);
	if (pass) await closeIfOver(context, trx, pass);
	return expired;
}

async function closeIfOver(context: SessionServices, trx: Tx, pass: HeldPass) {
	await eraseIfOver(context, trx, pass);
	await context.provisioning.scheduleComparisons(trx, pass.id);
}

/** Returns the end of extra time that runs after a session's own (ms since the epoch); null if none does. */
export async function findExtraTimeEnd(
	{ clock }: Pick<Base, 'clock'>,
	queries: Queries,
	row: Pick<SessionRow, 'id' | 'status' | 'ended_at' | 'pass_id'>
): Promise<number | null> {
	if (row.status !== 'expired' || row.pass_id === null) return null;
	const given = queries.selectFrom('extra_time').select('id').where('session_id', '=', row.id);
	if (!(await exists(given.where('created_at', '>=', row.ended_at)))) return null;
	// Paid time runs again, so the pass is not over after it.
	if ((await findActiveSessions(queries, row.pass_id)).length > 0) return null;
	const pass = await findPassOrThrow(queries, row.pass_id);
	return isPassOpen(pass, clock.now()) ? pass.ends_at : null;
}

async function timeOut(context: SessionServices, trx: Tx, row: HeldSession) {
	const payments = await sumOpenPayments(trx, row.id);
	if (payments.pending > 0) return undefined;
	// The grace period of a late payment counts from this instant, however late this runs.
	const endedAt = Math.max(row.payment_due_at, payments.expiry ?? 0);
	if (endedAt > context.clock.now()) return undefined;
	const to = { status: 'cancelled', status_reason: 'payment_timeout', ended_at: endedAt } as const;
	return transition(context, trx, row, 'pending_payment', to);
}

/** Checks a session with an open payment again after this time. */
const CANCEL_AGAIN_MS = 30_000;

/** Handles SESSION_END_JOB. @returns when to run again, or null if the session and its extra time are over */
export async function runSessionJob({ database, ...context }: Fenced<SessionsContext>, id: number) {
	const { row, extraUntil } = await database.transact(async (trx) => {
		const before = await lockSessionOrThrow(trx, id);
		const row = await applyDueChange(context, trx, before);
		const pass = findHeldPass(before);
		// It ended before, so this is the end of extra time.
		if (before.ended_at !== null && pass) await closeIfOver(context, trx, pass);
		return { row, extraUntil: await findExtraTimeEnd(context, trx, row) };
	});
	if (row.status === 'active') return row.expires_at;
	if (row.status !== 'pending_payment') return extraUntil;
	return Math.max(row.payment_due_at, context.clock.now() + CANCEL_AGAIN_MS);
}

/**
 * Ends an active session and those that follow it in its pass, or cancels an unpaid one.
 * @param onlyStatus acts only in this status. `pending_payment` includes a timed-out session: its late
 * payment is then refunded, without a second event.
 * @throws Refused `session_not_found`, `session_not_active`
 */
export async function endOrCancelSession(
	context: SessionsContext,
	caller: Caller,
	id: number,
	onlyStatus?: SessionStatus
): Promise<SessionBody> {
	const { database } = context;
	const ended = await database.transact(async (trx) => {
		await findVisibleSession(trx, caller, id);
		const row = await lockCurrentSession(context, trx, id);
		const reason = row.account_id === caller.accountId ? 'client_ended' : 'admin_ended';
		const isWanted = onlyStatus === undefined || onlyStatus === row.status;
		const changed = isWanted ? await endOrCancelNow(context, trx, row, reason) : undefined;
		if (changed) return changed;
		const refused = onlyStatus === 'pending_payment' ? await refuseLatePayment(context, trx, row) : null;
		if (refused) return refused;
		throw new Refused('session_not_active', `The session is ${row.status}; there is nothing to end.`, {
			extensions: { session_status: row.status }
		});
	});
	return findSessionBody(context, database.db, ended);
}

async function endOrCancelNow(context: SessionServices, trx: Tx, row: HeldSession, reason: string) {
	if (row.status === 'active') return endTime(context, trx, row, reason);
	if (row.status === 'pending_payment') return cancelUnpaid(context, trx, row, 'client_cancelled');
	return undefined;
}

/**
 * Ends the running time of a session at a router of this owner, also extra time after its end, and the time that follows
 * it in its pass. Refunds nothing.
 * @returns false if no time runs; then nothing changes
 * @throws Refused `session_not_found`, also for a session at another owner's router
 */
export const endSessionForOwner = (
	context: SessionsContext,
	accountId: number,
	id: number,
	{ by, note }: { by: string; note: string }
): Promise<boolean> =>
	context.database.transact(async (trx) => {
		const row = await lockSessionAtOwner(context, trx, accountId, id);
		const isActive = row.status === 'active';
		const until = isActive ? row.expires_at : await findExtraTimeEnd(context, trx, row);
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
export async function endRefunded(context: SessionServices, trx: Tx, row: HeldSession): Promise<void> {
	await endTime(context, trx, row, 'refunded');
	const pass = findHeldPass(row);
	if (pass) await takeDataBack(context, trx, pass, row.data_limit_mb);
}

export async function endExtraTime(context: SessionServices, trx: Tx, row: HeldSession): Promise<void> {
	const runs = (await findExtraTimeEnd(context, trx, row)) !== null;
	const pass = findHeldPass(row);
	if (runs && pass) await endPassEarlier(context, trx, pass);
}

/** Takes back the data of a session, and ends the rest of the pass if it has used all that is left. */
async function takeDataBack(context: SessionServices, trx: Tx, pass: HeldPass, dataLimitMb: number | null) {
	await reduceDataLimit(context, trx, pass, dataLimitMb);
	const isRunning = (await findActiveSessions(trx, pass.id)).length > 0;
	if (isRunning && dataLeft(await findPassOrThrow(trx, pass)) === 0) {
		await endAtDataLimit(context, trx, pass);
	}
}

/** Ends an active session and those that follow it in its pass. */
async function endTime(context: SessionServices, trx: Tx, row: HeldSession, reason: string) {
	const rows = [row, ...(await findLaterSessions(trx, row))];
	const [ended] = await leave(context, trx, rows, 'active', { status: 'ended', status_reason: reason });
	const pass = findHeldPass(row);
	if (pass) await endPassEarlier(context, trx, pass);
	return ended;
}

/** Changes sessions that are in a state. Returns those that were. */
async function leave(
	context: SessionServices,
	trx: Tx,
	rows: readonly HeldSession[],
	from: SessionStatus,
	to: { status: 'cancelled' | 'ended'; status_reason: string }
): Promise<HeldSession[]> {
	const ended = { ...to, ...stampEnd(context) };
	const left: (HeldSession | undefined)[] = [];
	for (const row of rows) left.push(await transition(context, trx, row, from, ended));
	return left.filter((row) => row !== undefined);
}

async function endPassEarlier(context: SessionServices, trx: Tx, pass: HeldPass) {
	await shortenPass(context, trx, pass);
	await context.provisioning.scheduleComparisons(trx, pass.id);
}

/** Ends a running pass that has used its data, with all its sessions. Nothing is refunded. */
export async function endAtDataLimit(context: SessionServices, trx: Tx, pass: HeldPass): Promise<void> {
	const rows = await findHeldSessions(trx, pass, 'active');
	for (const row of rows) await applyDueChange(context, trx, row);
	await leave(context, trx, rows, 'active', { status: 'ended', status_reason: 'data_limit_reached' });
	await endPassEarlier(context, trx, pass);
}

function stampEnd({ clock }: SessionServices) {
	const now = clock.now();
	return { ended_at: now, updated_at: now };
}

function cancelUnpaid(
	context: SessionServices,
	trx: Tx,
	row: HeldSession,
	reason: 'client_cancelled' | 'provisioning_failed'
) {
	const to = { status: 'cancelled', status_reason: reason, ...stampEnd(context) } as const;
	return transition(context, trx, row, 'pending_payment', to);
}

/** Makes a timed-out session final: a late payment would otherwise buy it beside its replacement. */
function refuseLatePayment(context: SessionServices, trx: Tx, row: HeldSession) {
	if (row.status_reason !== 'payment_timeout') return null;
	const from = { status: 'cancelled', status_reason: 'payment_timeout' } as const;
	return changeSession(trx, row, from, {
		status_reason: 'client_cancelled',
		updated_at: context.clock.now()
	});
}

const FAILED = { status: 'cancelled', status_reason: 'provisioning_failed' } as const;

/** Cancels a pass's sessions that no gateway confirmed in time. The caller refunds their payments. */
export async function cancelWaiting(context: SessionServices, trx: Tx, pass: HeldPass) {
	const waiting = await findHeldSessions(trx, pass, 'activating');
	const cancelled = await leave(context, trx, waiting, 'activating', FAILED);
	if (cancelled.length > 0) await shortenPass(context, trx, pass);
	return cancelled;
}

/** Cancels time that no gateway received, even if it expired. Returns whether it was cancelled. */
export async function cancelUnconfirmed(
	context: SessionServices,
	trx: Tx,
	row: HeldSession
): Promise<boolean> {
	const pass = findHeldPass(row);
	// The one before it may have ended it.
	const { status } = await findSessionOrThrow(trx, row.id);
	if ((status !== 'active' && status !== 'expired') || pass === null) return false;
	const to = { ...FAILED, starts_at: null, expires_at: null, ...stampEnd(context) };
	const taken = await transition(context, trx, row, status, to);
	if (status === 'active') await shortenPass(context, trx, pass);
	if (taken) await takeDataBack(context, trx, pass, taken.data_limit_mb);
	await context.provisioning.scheduleComparisons(trx, pass.id);
	return taken !== undefined;
}

/** Holds the caller's own session, and returns it after due changes. @throws Refused `session_not_found` */
export async function lockOwnSession(context: SessionServices, trx: Tx, caller: Caller, id: number) {
	const row = await lockSession(trx, id);
	if (row?.account_id !== caller.accountId) throw sessionNotFound();
	return applyDueChange(context, trx, row);
}

export const sessionNotFound = () => new Refused('session_not_found', 'There is no session with this id.');

/** Returns a session that the caller may see. @throws Refused `session_not_found` */
export async function findVisibleSession(queries: Queries, caller: Caller, id: number): Promise<SessionRow> {
	const row = await findSession(queries, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) throw sessionNotFound();
	return row;
}

/** Holds a session at a router of this owner, and returns it after due changes. @throws Refused `session_not_found` */
export async function lockSessionAtOwner(context: SessionServices, trx: Tx, accountId: number, id: number) {
	const found = await lockSession(trx, id);
	const router = found && (await findRouterOrThrow(trx, found.router_id));
	if (!found || router?.owner_account_id !== accountId) throw sessionNotFound();
	return applyDueChange(context, trx, found);
}

/** Secrets for the buyer only. */
interface Revealed {
	password: string;
	security: WifiSecurity;
	/** The network does not announce its name. */
	hidden: boolean;
	/** null if the network has none or it is unknown. */
	networkPassword: string | null;
}

/** @param pass the pass that has the session's time */
export function describeSession(
	row: SessionRow,
	pass: PassRow | null,
	now: number,
	revealed: Revealed | null
): SessionBody {
	return {
		id: row.id,
		router_id: row.router_id,
		status: row.status,
		status_reason: row.status_reason,
		duration: row.duration,
		duration_seconds: row.duration_seconds,
		payment_method: row.payment_method,
		phone: row.phone,
		amount: toMajor(row.amount_minor, row.currency),
		currency: row.currency,
		offer: describeBoughtOffer(row),
		payment_id: row.payment_id,
		ssid: row.ssid,
		password: revealed?.password ?? null,
		access: describeAccess(row, revealed),
		payment_due_at: isoTime(row.payment_due_at),
		starts_at: isoTime(row.starts_at),
		expires_at: isoTime(row.expires_at),
		extra_seconds: computeExtraSeconds(row),
		ended_at: isoTime(row.ended_at),
		remaining_seconds: computeRemainingSeconds(row, now),
		...describeData(row, pass),
		extends_session_id: row.extends_session_id,
		pass_id: row.pass_id ?? row.id,
		created_at: isoTime(row.created_at),
		updated_at: isoTime(row.updated_at)
	};
}

function describeBoughtOffer(row: SessionRow): SessionBody['offer'] {
	if (row.offer_id === null || row.offer_name === null) return null;
	return { id: row.offer_id, name: row.offer_name, ...limitsOf(row), max_devices: row.max_devices };
}

function describeAccess(row: SessionRow, revealed: Revealed | null): SessionBody['access'] {
	const kind = row.access_kind;
	const qr = revealed && formatQr(row, revealed);
	const isLogin = kind === 'portal_login';
	return {
		kind,
		username: revealed && asksUserName(kind) ? loginUser(row.pass_id ?? row.id) : null,
		network_password: revealed && isLogin ? revealed.networkPassword : null,
		qr,
		qr_joins: qr === null ? null : isLogin ? 'network' : 'access',
		end_enforced: endsByItself(kind),
		max_devices: row.max_devices
	};
}

/** Returns null for enterprise networks, which phone cameras cannot set up. */
function formatQr({ access_kind, ssid }: SessionRow, revealed: Revealed): string | null {
	const { security, hidden, password, networkPassword } = revealed;
	if (access_kind === 'wpa_enterprise') return null;
	const joining = access_kind === 'portal_login' ? networkPassword : password;
	if (security === 'wpa' && joining === null) return null;
	return wifiQrText({ ssid, security, hidden, password: joining });
}

/** Shows a session whose time is over as expired, even before its job has run. */
export const expireIfOver = <Row extends Pick<SessionRow, 'status' | 'expires_at' | 'ended_at'>>(
	row: Row,
	now: number
): Row =>
	row.status === 'active' && row.expires_at !== null && row.expires_at <= now
		? { ...row, status: 'expired', ended_at: row.expires_at }
		: row;

function describeData({ starts_at }: SessionRow, pass: PassRow | null) {
	const data = starts_at === null || pass === null ? null : dataMb(pass);
	return { data_used_mb: data?.usedMb ?? null, data_left_mb: data?.leftMb ?? null };
}

const computeExtraSeconds = ({ starts_at: from, expires_at: until, duration_seconds: bought }: SessionRow) =>
	from === null || until === null ? 0 : Math.max(0, Math.round((until - from) / 1000) - bought);

/** Counts the session's own time: null before payment, all of it before its start, 0 after. */
function computeRemainingSeconds(row: SessionRow, now: number): number | null {
	if (row.expires_at === null) return null;
	if (row.status !== 'active') return 0;
	const left = Math.ceil((row.expires_at - Math.max(now, row.starts_at ?? now)) / 1000);
	return Math.max(0, left);
}

/** The sessions of a pass in a state, by start. Of those that have not started, the one that began the pass comes first. */
const findSessionsOfPass = (queries: Queries, passId: number, status: SessionStatus) =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where(({ and }) => and({ pass_id: passId, status }))
		.orderBy('starts_at')
		.orderBy((session) => session.case().when('id', '=', passId).then(0).else(1).end())
		.orderBy('id')
		.execute();

/** Those of a pass that the transaction holds. */
export const findHeldSessions = (trx: Tx, { id }: HeldPass, status: SessionStatus) =>
	findSessionsOfPass(trx, id, status) as Promise<HeldSession[]>;

export const findActiveSessions = (queries: Queries, passId: number) =>
	findSessionsOfPass(queries, passId, 'active');

/** Lists the active sessions of the same pass whose time follows that of this one. */
export const findLaterSessions = async (trx: Tx, session: HeldSession): Promise<HeldSession[]> => {
	const { id, expires_at: expiresAt } = session;
	const pass = findHeldPass(session);
	const active = pass === null ? [] : await findHeldSessions(trx, pass, 'active');
	return active.filter((one) => one.id !== id && (one.starts_at ?? 0) >= (expiresAt ?? Infinity));
};

/** Moves unpaid orders of a pass that is over to the one that replaces it. */
const moveOrders = (trx: Tx, fromPassId: number, toPassId: number) =>
	trx
		.updateTable('sessions')
		.set({ pass_id: toPassId })
		.where('pass_id', '=', fromPassId)
		.where('starts_at', 'is', null)
		.where((session) =>
			session.or([
				session('status', '=', 'pending_payment'),
				session('status_reason', '=', 'payment_timeout')
			])
		)
		.execute();

export const findSession = (queries: Reads, id: number) => findById(queries, 'sessions', id);

/** A session that the transaction holds, with its pass. Functions that change a session take it. */
export type HeldSession = Held<SessionRow>;

/** @param of the id of the session, or of one of its payments */
export async function lockSession(
	trx: Tx,
	of: number | { paymentId: number }
): Promise<HeldSession | undefined> {
	if (typeof of === 'number' && !Number.isSafeInteger(of)) return undefined;
	const isWanted = (session: ExpressionBuilder<Schema, 'sessions'>) =>
		session(
			'sessions.id',
			'=',
			typeof of === 'number'
				? of
				: session.selectFrom('payments').select('session_id').where('payments.id', '=', of.paymentId)
		);
	const own = trx.selectFrom('sessions').where(isWanted);
	if (holdsEverything(trx)) return (await own.selectAll().executeTakeFirst()) as HeldSession | undefined;
	// The pass first, because who changes a pass changes its sessions.
	const pass = trx
		.selectFrom('passes')
		.select('id')
		.where('id', '=', (passes) => passes.selectFrom('sessions').select('pass_id').where(isWanted));
	const session = trx
		.with('pass', () => hold(trx, pass))
		.selectFrom('sessions')
		.leftJoin('pass', (join) => join.onTrue())
		.selectAll('sessions')
		.select('pass.id as held_pass_id')
		.where(isWanted);
	const row = await holdLast(trx, session, 'sessions').executeTakeFirst();
	if (!row) return undefined;
	const { held_pass_id: passId, ...held } = row;
	if (held.pass_id !== passId) throw new Outdated('The session got another pass');
	return held as HeldSession;
}

async function lockSessionOrThrow(trx: Tx, id: number): Promise<HeldSession> {
	const row = await lockSession(trx, id);
	if (!row) throw new Error(`Session ${id} is gone`);
	return row;
}

export const findHeldPass = ({ pass_id: id }: HeldSession): HeldPass | null =>
	id === null ? null : ({ id } as HeldPass);

/** Changes a session that is in the expected state. Returns undefined otherwise. */
export const changeSession = async (
	trx: Tx,
	{ id }: HeldSession,
	from: { status: SessionStatus; status_reason?: string },
	to: Updateable<Schema['sessions']>
) =>
	(await trx
		.updateTable('sessions')
		.set(to)
		.where(({ and }) => and({ id, ...from }))
		.returningAll()
		.executeTakeFirst()) as HeldSession | undefined;

/** Whether a payment for time at the router may still succeed. */
export const isPaying = (queries: Queries, routerId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('sessions')
			.innerJoin('payments', 'payments.id', 'sessions.payment_id')
			.select('sessions.id')
			.where('sessions.router_id', '=', routerId)
			.where('sessions.status', '=', 'pending_payment')
			.where('payments.status', 'in', ['pending', 'expired'])
	);

/** Counts pending payments; `expiry` is the latest time limit of a payment that was not refused. */
const sumOpenPayments = (queries: Queries, id: number) =>
	queries
		.selectFrom('payments')
		.select([
			sql<number>`coalesce(sum(case when status = 'pending' then 1 else 0 end), 0)`.as('pending'),
			sql<number | null>`max(case when status in ('expired', 'success') then expires_at end)`.as('expiry')
		])
		.where('session_id', '=', id)
		.executeTakeFirstOrThrow();
