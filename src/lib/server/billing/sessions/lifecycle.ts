import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Events, EventType } from '#lib/server/events/events.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import { sells, type Routers } from '#lib/server/routers/routers.ts';
import { sessionBody } from './body.ts';
import type { Passwords } from './passwords.ts';
import * as store from './store.ts';

type SessionRow = store.SessionRow;

/**
 * The life of a session, time bought on a router. Each arrow of the state machine is one function that changes the row only
 * if it is still in the state the arrow starts from, together with its event, in the caller's transaction.
 *
 *   pending_payment -> active            a payment succeeded (activate)
 *   pending_payment -> activating        the same, where a gateway has to be told first, or none is heard of
 *   activating -> active                 a gateway has let it in (begin)
 *   activating -> cancelled              none did in time (giveUp); the money goes back
 *   active -> cancelled                  no gateway was told of added time (takeBack); the money goes back
 *   pending_payment -> cancelled         DELETE, or not paid in time and no payment open
 *   cancelled(payment_timeout) -> active a success that came late, but not too late, and nobody gave the order up
 *   active -> expired | ended            the clock, or DELETE
 *
 * A pass is one session, or several that follow each other without a gap under one password: added time is a session
 * with a payment of its own, which begins where the pass ends at the moment when it is paid.
 */
export interface Lifecycle {
	/** The row of a session that a payment names. */
	known(queries: Queries, id: number): Promise<SessionRow>;
	/** Notes an event of a session, in the transaction of its cause. */
	note(trx: Tx, type: EventType, row: SessionRow): Promise<void>;
	/** What the clock demands of a session now; the row itself when nothing is due. */
	settle(trx: Tx, row: SessionRow): Promise<SessionRow>;
	/** pending_payment -> cancelled: its creator gives the order up; null when it does not wait (any more). */
	cancel(trx: Tx, id: number): Promise<SessionRow | null>;
	/** active -> ended, the session and those that follow it in its pass; null when it is not active any more. */
	endPass(trx: Tx, row: SessionRow, reason: string): Promise<SessionRow | null>;
	/**
	 * Starts the time of a session because `paymentId` succeeded.
	 * @returns null when it is active now, or the reason why this payment does not buy it
	 */
	activate(trx: Tx, id: number, paymentId: number): Promise<NotApplied | null>;
	/**
	 * activating -> active: a gateway has let the buyer in, or can, from `startsAt` on (epoch milliseconds). What was added
	 * to it meanwhile follows.
	 * @returns false when it does not wait for that (any more)
	 */
	begin(trx: Tx, id: number, startsAt: number): Promise<boolean>;
	/**
	 * activating -> cancelled: no gateway did in time. With it goes what was added to it meanwhile.
	 * @returns those that were given up; none when it does not wait for that (any more)
	 */
	giveUp(trx: Tx, id: number): Promise<SessionRow[]>;
	/**
	 * active -> cancelled: added time that no gateway was told of. It has expired already where nobody could look in time.
	 * @returns whether it was taken back
	 */
	takeBack(trx: Tx, id: number): Promise<boolean>;
}

/** Why a successful payment does not buy its session; the money goes back for this reason. */
export type NotApplied = 'duplicate_payment' | 'session_cancelled' | 'late_payment';

/** What sessions need of whoever tells gateways (access/). */
export interface AccessPlan {
	/**
	 * In the transaction in which the first session of a pass is paid: notes which gateways have to be told.
	 * @returns until when one must have let the buyer in, or be heard of again; null when the time may begin
	 */
	begin(trx: Tx, row: SessionRow): Promise<number | null>;
	/** In the transaction of a change: gateways must learn what a pass is now. */
	changed(trx: Tx, passId: number): Promise<void>;
	/**
	 * In the transaction in which added time is paid that begins at `startsAt` (epoch milliseconds): somebody will look
	 * whether the gateway that has to be told of it was.
	 */
	added(trx: Tx, row: SessionRow, startsAt: number): Promise<void>;
}

/** One job for each session: cancels it when it is not paid in time, ends it when its time is over. */
export const SESSION_JOB = 'session.settle';

export interface LifecycleParts {
	access: AccessPlan;
	clock: Clock;
	config: Config;
	jobs: Jobs;
	events: Events;
	routers: Routers;
	passwords: Passwords;
}

export function createLifecycle(parts: LifecycleParts): Lifecycle {
	const { clock, config, jobs, events, routers, passwords, access } = parts;

	async function note(trx: Tx, type: EventType, row: SessionRow): Promise<void> {
		await events.record(trx, {
			type,
			accountId: row.account_id,
			routerId: row.router_id,
			sessionId: row.id,
			paymentId: row.payment_id,
			// An undefined member is left out of the JSON: no password travels with an event, not even as null.
			data: { ...sessionBody(row, clock.now(), null), password: undefined }
		});
	}

	/** A change of state with its event; null when the session is no longer where the change starts. */
	async function transition(
		trx: Tx,
		from: Parameters<typeof store.change>[1],
		to: Parameters<typeof store.change>[2],
		{ event, now }: { event: EventType; now: number }
	): Promise<SessionRow | null> {
		const row = await store.change(trx, from, { ...to, updated_at: now });
		if (row) await note(trx, event, row);
		if (row && row.starts_at !== null) await access.changed(trx, row.pass_id);
		return row;
	}

	async function settle(trx: Tx, row: SessionRow): Promise<SessionRow> {
		const now = clock.now();
		if (row.status === 'active' && row.expires_at !== null && row.expires_at <= now) {
			const to = { status: 'expired', ended_at: row.expires_at, password_sealed: null } as const;
			return (
				(await transition(trx, { id: row.id, status: 'active' }, to, { event: 'session.expired', now })) ??
				row
			);
		}
		if (row.status === 'pending_payment' && row.payment_due_at <= now) {
			if (await store.hasPendingPayment(trx, row.id)) return row;
			// The moment at which it was over, however late somebody looks: the time for a late payment runs from it.
			const endedAt = Math.max(row.payment_due_at, (await store.lastPaymentExpiry(trx, row.id)) ?? 0);
			if (endedAt > now) return row;
			const to = { status: 'cancelled', status_reason: 'payment_timeout', ended_at: endedAt } as const;
			return (
				(await transition(trx, { id: row.id, status: 'pending_payment' }, to, {
					event: 'session.cancelled',
					now
				})) ?? row
			);
		}
		return row;
	}

	async function known(queries: Queries, id: number): Promise<SessionRow> {
		const row = await store.find(queries, id);
		if (!row) throw new Error(`Session ${id} is gone`);
		return row;
	}

	/**
	 * Starts the time: now, or where the pass ends that it was ordered to lengthen. Two that are paid at once add up,
	 * because transactions behave as if they ran one after the other.
	 */
	async function start(trx: Tx, row: SessionRow, paymentId: number): Promise<boolean> {
		const now = clock.now();
		const isAdded = row.extends_session_id !== null;
		const running = isAdded ? await store.lastOfLine(trx, row.line_id, now) : null;
		// Time that was paid when the pass was over, and waits for its gateway: this begins, or goes back, together with it.
		const waiting = isAdded && !running ? await store.waitingOfLine(trx, row.line_id) : null;
		const pass = running ?? waiting;
		const startsAt = pass?.expires_at ?? now;
		const expiresAt = startsAt + row.duration_seconds * 1000;
		const from = {
			id: row.id,
			status: row.status,
			...(row.status_reason === null ? {} : { statusReason: row.status_reason })
		};
		const paid = {
			status_reason: null,
			payment_id: paymentId,
			password_sealed: passwords.sealed(row.id, await passwords.forStart(trx, row, pass)),
			pass_id: pass?.pass_id ?? row.id,
			ended_at: null
		} as const;
		// Its devices are found by its pass, and time that was ordered for a pass that is over begins one of its own.
		if (!pass && row.pass_id !== paid.pass_id) await store.change(trx, from, { pass_id: paid.pass_id });
		const activatingUntil = waiting
			? waiting.activating_until
			: pass
				? null
				: await access.begin(trx, { ...row, pass_id: paid.pass_id });
		if (activatingUntil !== null) {
			const to = {
				...paid,
				status: 'activating',
				activating_until: activatingUntil,
				updated_at: now
			} as const;
			if (!(await store.change(trx, from, to))) return false;
			// Who is being told is told of more.
			if (waiting) await access.changed(trx, paid.pass_id);
			return true;
		}
		const to = { ...paid, status: 'active', starts_at: startsAt, expires_at: expiresAt } as const;
		if (!(await transition(trx, from, to, { event: 'session.activated', now }))) return false;
		await jobs.schedule(trx, SESSION_JOB, row.id, expiresAt);
		if (pass) await access.added(trx, { ...row, pass_id: paid.pass_id }, startsAt);
		return true;
	}

	async function endPass(trx: Tx, row: SessionRow, reason: string): Promise<SessionRow | null> {
		const now = clock.now();
		const to = {
			status: 'ended',
			status_reason: reason,
			ended_at: now,
			password_sealed: null
		} as const;
		const event = { event: 'session.ended', now } as const;
		const ended = await transition(trx, { id: row.id, status: 'active' }, to, event);
		if (!ended) return null;
		for (const later of await store.laterInPass(trx, row)) {
			await transition(trx, { id: later.id, status: 'active' }, to, event);
		}
		return ended;
	}

	return {
		known,
		note,
		settle,
		endPass,
		cancel(trx, id) {
			const now = clock.now();
			const to = { status: 'cancelled', status_reason: 'client_cancelled', ended_at: now } as const;
			return transition(trx, { id, status: 'pending_payment' }, to, { event: 'session.cancelled', now });
		},
		async activate(trx, id, paymentId) {
			const row = await settle(trx, await known(trx, id));
			if (row.status === 'pending_payment') {
				if (await start(trx, row, paymentId)) return null;
				return 'duplicate_payment';
			}
			if (row.status !== 'cancelled') return 'duplicate_payment';
			if (row.status_reason !== 'payment_timeout') return 'session_cancelled';
			const router = await routers.known(trx, row.router_id);
			const inGrace = row.ended_at !== null && clock.now() <= row.ended_at + config.latePaymentMs;
			if (!inGrace || !sells(router)) return 'late_payment';
			return (await start(trx, row, paymentId)) ? null : 'duplicate_payment';
		},
		async begin(trx, id, startsAt) {
			const event = { event: 'session.activated', now: clock.now() } as const;
			let from = startsAt;
			const waiting = await store.waitingInPass(trx, (await known(trx, id)).pass_id);
			for (const row of waiting) {
				const to = {
					status: 'active',
					activating_until: null,
					starts_at: from,
					expires_at: from + row.duration_seconds * 1000
				} as const;
				if (!(await transition(trx, { id: row.id, status: 'activating' }, to, event))) return false;
				await jobs.schedule(trx, SESSION_JOB, row.id, to.expires_at);
				if (from !== startsAt) await access.added(trx, row, from);
				from = to.expires_at;
			}
			return waiting.length > 0;
		},
		async giveUp(trx, id) {
			const now = clock.now();
			const to = {
				status: 'cancelled',
				status_reason: 'provisioning_failed',
				activating_until: null,
				password_sealed: null,
				ended_at: now
			} as const;
			const event = { event: 'session.cancelled', now } as const;
			const given: SessionRow[] = [];
			for (const row of await store.waitingInPass(trx, (await known(trx, id)).pass_id)) {
				const back = await transition(trx, { id: row.id, status: 'activating' }, to, event);
				if (back) given.push(back);
			}
			return given;
		},
		async takeBack(trx, id) {
			const now = clock.now();
			const { status, pass_id: passId } = await known(trx, id);
			if (status !== 'active' && status !== 'expired') return false;
			const to = {
				status: 'cancelled',
				status_reason: 'provisioning_failed',
				password_sealed: null,
				starts_at: null,
				expires_at: null,
				ended_at: now
			} as const;
			const taken = await transition(trx, { id, status }, to, { event: 'session.cancelled', now });
			await access.changed(trx, passId);
			return taken !== null;
		}
	};
}
