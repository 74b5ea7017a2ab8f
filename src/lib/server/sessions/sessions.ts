import { durationSeconds } from '../../duration.ts';
import { priceForSeconds } from '../../money.ts';
import type { Caller } from '../api-keys/api-keys.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { OwnerUserBody, SessionBody, SessionCreationBody } from '../contract/schemas.ts';
import type { Database, Queries, Tx } from '../db/database.ts';
import { AppError } from '../errors.ts';
import type { Events, EventType } from '../events/events.ts';
import { wifiPassword } from '../ids.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { carrierOf } from '../operators/carriage.ts';
import type { Operators } from '../operators/registry.ts';
import { sells, type Routers } from '../routers/routers.ts';
import type { Secrets } from '../secrets.ts';
import { ownerUserBody, sessionBody } from './body.ts';
import { checkOrder } from './order.ts';
import * as store from './store.ts';

/**
 * Sessions: time bought on a router. Each arrow of the state machine is one function that changes the row only
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
export type SessionRow = store.SessionRow;
export { mobileNumber } from './order.ts';

/** Why a successful payment does not buy its session; the money goes back for this reason. */
export type NotApplied = 'duplicate_payment' | 'session_cancelled' | 'late_payment';

/** Stores the answer to a request in the transaction of its effect; `status` where it is not the route's own. */
export type RememberBody<T> = (trx: Tx, body: T, status?: 200 | 201) => Promise<void>;

export interface Sessions {
	/** Orders time; charges nothing. @throws AppError, see contract/routes.ts */
	create(
		caller: Caller,
		order: SessionCreationBody,
		remember?: RememberBody<SessionBody>
	): Promise<SessionBody>;
	/** @throws AppError `session_not_found` */
	read(caller: Caller, id: number): Promise<SessionBody>;
	/**
	 * Ends an active session, and those that follow it in its pass, or cancels an unpaid one; with `onlyStatus` only
	 * from that state. With `pending_payment` that includes an order whose time to pay is over: from then on a late
	 * payment goes back instead of buying it. (No second event tells of it.)
	 * @throws AppError `session_not_found | session_not_active`
	 */
	end(caller: Caller, id: number, onlyStatus?: SessionRow['status']): Promise<SessionBody>;
	/**
	 * The creator's session as it is now (due changes of state are made first), for a payment.
	 * @returns null when there is none, or it is another account's
	 */
	ownCurrent(trx: Tx, caller: Caller, id: number): Promise<SessionRow | null>;
	/** Notes the newest payment that was started for an unpaid session. */
	notePayment(trx: Tx, id: number, paymentId: number): Promise<void>;
	/** The row of a session that a payment names. */
	known(queries: Queries, id: number): Promise<SessionRow>;
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
	/** The password of a paid session, for the gateways of its router. */
	passwordOf(row: SessionRow): string;
	/** The owner's own password has changed: whoever was given it, and whose time is not over, gets the new one. */
	sharePassword(trx: Tx, routerId: number, password: string): Promise<void>;
	/** Sessions on the caller's routers, newest first, without passwords and full numbers. */
	listForOwner(caller: Pick<Caller, 'accountId'>, query: OwnerQuery): Promise<OwnerPage>;
	/** Job: makes the change that the clock demands, if it is time. Returns when to look again. */
	settleDue(id: number): Promise<number | null>;
}

/** The two classes in which an owner sees sessions: what ended early counts as expired. */
export type SessionGroup = 'active' | 'expired';

export interface OwnerQuery {
	group: SessionGroup | null;
	limit: number;
	/** Place after which the page begins: start and id. */
	after: readonly [number, number] | null;
}

export interface OwnerPage {
	data: OwnerUserBody[];
	next: [number, number] | null;
	counts: Record<SessionGroup, number>;
}

/** One job for each session: cancels it when it is not paid in time, ends it when its time is over. */
export const SESSION_JOB = 'session.settle';

/** A session whose payment is still open is looked at again after this time. */
const CANCEL_AGAIN_MS = 30_000;

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

export interface SessionsDependencies {
	access: AccessPlan;
	database: Database;
	clock: Clock;
	config: Config;
	secrets: Secrets;
	jobs: Jobs;
	events: Events;
	routers: Routers;
	operators: Operators;
}

/** What a stored password is sealed for. */
export const passwordContext = (id: number) => `session:${id}`;

export function createSessions(dependencies: SessionsDependencies): Sessions {
	const { database, clock, config, secrets, jobs, events, routers, operators, access } = dependencies;

	const body = (row: SessionRow): SessionBody => sessionBody(row, clock.now(), null);

	/** With what lets its buyer in, while it is active. */
	async function revealed(row: SessionRow): Promise<SessionBody> {
		const password = row.status === 'active' ? opened(row) : null;
		if (password === null) return body(row);
		const router = await routers.known(database.db, row.router_id);
		const { security } = router;
		return sessionBody(row, clock.now(), {
			password,
			security,
			networkPassword: routers.networkPassword(router)
		});
	}

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

	/** What the clock demands of a session now; the row itself when nothing is due. */
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

	const isDue = (row: SessionRow, now: number) =>
		(row.status === 'active' && row.expires_at !== null && row.expires_at <= now) ||
		(row.status === 'pending_payment' && row.payment_due_at <= now);

	/** A session that the caller may see, as it is at this moment. */
	async function current(caller: Caller, id: number): Promise<SessionRow> {
		const row = await store.find(database.db, id);
		if (!row || !mayRead(caller, row)) throw sessionNotFound();
		if (!isDue(row, clock.now())) return row;
		return database.transact(async (trx) => settle(trx, await known(trx, id)));
	}

	async function known(queries: Queries, id: number): Promise<SessionRow> {
		const row = await store.find(queries, id);
		if (!row) throw new Error(`Session ${id} is gone`);
		return row;
	}

	const opened = ({ id, password_sealed: sealed }: SessionRow) =>
		sealed === null ? null : secrets.decrypt(sealed, passwordContext(id));

	/** The password of a pass that goes on; else a new one, or what the owner reveals. */
	async function newPasswordOf(trx: Tx, row: SessionRow, pass: SessionRow | null): Promise<string> {
		if (row.access_kind === 'shared_password') {
			const shared = routers.networkPassword(await routers.known(trx, row.router_id));
			if (shared !== null) return shared;
		}
		return (pass && opened(pass)) ?? wifiPassword();
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
			password_sealed: secrets.encrypt(await newPasswordOf(trx, row, pass), passwordContext(row.id)),
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

	/**
	 * The session whose pass an order is to lengthen. Only its buyer may: the added time has the same password.
	 * @throws AppError `session_not_found | session_not_extendable`
	 */
	async function extendedBy(
		trx: Tx,
		caller: Caller,
		{ extends_session_id: id, router_id: routerId }: SessionCreationBody
	): Promise<SessionRow | null> {
		if (id === undefined) return null;
		const row = await store.find(trx, id);
		if (!row || row.account_id !== caller.accountId) throw sessionNotFound();
		const over = row.status === 'active' && row.expires_at !== null && row.expires_at <= clock.now();
		const status = over ? 'expired' : row.status;
		if (status === 'active' && row.router_id === routerId) return row;
		const why =
			status === 'active'
				? `The session is on router ${row.router_id}.`
				: `The session is ${status}; order time without extends_session_id.`;
		throw new AppError('session_not_extendable', why, { extensions: { session_status: status } });
	}

	/** active -> ended, the session and those that follow it in its pass; null when it is not active any more. */
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
		async create(caller, order, remember) {
			return database.transact(async (trx) => {
				const router = await routers.visible(trx, caller, order.router_id);
				const extended = await extendedBy(trx, caller, order);
				const phone = checkOrder(order, router, routers.paymentMethods(router), config.defaultRegion);
				const seconds = durationSeconds(order.duration);
				const amountMinor = priceForSeconds(router.price_minor, seconds);
				const { currency } = router;
				carrierOf(operators, { method: order.payment_method, phone, amountMinor, currency });
				const now = clock.now();
				const created = await store.insert(trx, {
					account_id: caller.accountId,
					router_id: router.id,
					status: 'pending_payment',
					duration: order.duration,
					duration_seconds: seconds,
					payment_method: order.payment_method,
					phone,
					amount_minor: amountMinor,
					currency,
					ssid: router.ssid,
					access_kind: router.access_kind,
					max_devices: router.max_devices,
					...(extended && {
						extends_session_id: extended.id,
						pass_id: extended.pass_id,
						line_id: extended.line_id
					}),
					payment_due_at: now + config.sessionPaymentMs,
					created_at: now,
					updated_at: now
				});
				await jobs.schedule(trx, SESSION_JOB, created.id, created.payment_due_at);
				await note(trx, 'session.created', created);
				const answer = body(created);
				await remember?.(trx, answer);
				return answer;
			});
		},
		async read(caller, id) {
			const row = await current(caller, id);
			return row.account_id === caller.accountId ? revealed(row) : body(row);
		},
		async end(caller, id, onlyStatus) {
			await current(caller, id);
			const row = await database.transact(async (trx) => {
				const found = await settle(trx, await known(trx, id));
				const now = clock.now();
				const byCreator = found.account_id === caller.accountId;
				const reason = byCreator ? 'client_ended' : 'admin_ended';
				const wanted = onlyStatus === undefined || onlyStatus === found.status;
				if (wanted && found.status === 'active') {
					const ended = await endPass(trx, found, reason);
					if (ended) return ended;
				}
				if (wanted && found.status === 'pending_payment') {
					const to = { status: 'cancelled', status_reason: 'client_cancelled', ended_at: now } as const;
					const cancelled = await transition(trx, { id, status: 'pending_payment' }, to, {
						event: 'session.cancelled',
						now
					});
					if (cancelled) return cancelled;
				}
				// Given up for good: else a late payment would still buy it, beside what was bought in its place.
				if (onlyStatus === 'pending_payment' && found.status_reason === 'payment_timeout') {
					const from = { id, status: 'cancelled', statusReason: 'payment_timeout' } as const;
					const to = { status_reason: 'client_cancelled', updated_at: now };
					const givenUp = await store.change(trx, from, to);
					if (givenUp) return givenUp;
				}
				const { status } = await known(trx, id);
				throw new AppError('session_not_active', `The session is ${status}; there is nothing to end.`, {
					extensions: { session_status: status }
				});
			});
			return body(row);
		},
		async ownCurrent(trx, caller, id) {
			const row = await store.find(trx, id);
			if (!row || row.account_id !== caller.accountId) return null;
			return settle(trx, row);
		},
		async notePayment(trx, id, paymentId) {
			const from = { id, status: 'pending_payment' } as const;
			await store.change(trx, from, { payment_id: paymentId, updated_at: clock.now() });
		},
		known,
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
		},
		passwordOf(row) {
			const password = opened(row);
			if (password === null) throw new Error(`Session ${row.id} has no password`);
			return password;
		},
		async sharePassword(trx, routerId, password) {
			const now = clock.now();
			for (const id of await store.sharingOf(trx, routerId)) {
				const sealed = secrets.encrypt(password, passwordContext(id));
				await store.reseal(trx, id, { password_sealed: sealed, updated_at: now });
			}
		},
		async listForOwner(caller, { group, limit, after }) {
			const now = clock.now();
			const owner = { accountId: caller.accountId, now };
			const [rows, counts] = await Promise.all([
				store.ofOwner(database.db, owner, { group, after, limit: limit + 1 }),
				store.countOfOwner(database.db, owner)
			]);
			const page = rows.slice(0, limit);
			const last = page.at(-1);
			return {
				data: page.map((row) => ownerUserBody(row, now)),
				next: rows.length > limit && last ? [last.starts_at, last.id] : null,
				counts
			};
		},
		async settleDue(id) {
			const row = await database.transact(async (trx) => settle(trx, await known(trx, id)));
			if (row.status === 'active') return row.expires_at;
			if (row.status !== 'pending_payment') return null;
			return Math.max(row.payment_due_at, clock.now() + CANCEL_AGAIN_MS);
		}
	};
}

const mayRead = (caller: Caller, row: SessionRow) =>
	row.account_id === caller.accountId || caller.role === 'admin';

export const sessionNotFound = () => new AppError('session_not_found', 'There is no session with this id.');
