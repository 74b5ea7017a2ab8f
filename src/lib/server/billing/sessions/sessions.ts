import { durationSeconds } from '#lib/domain/duration.ts';
import { priceForSeconds } from '#lib/domain/money.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { OwnerUserBody, SessionBody, SessionCreationBody } from '#lib/server/api/contract/schemas.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import type { Events } from '#lib/server/events/events.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import { carrierOf } from '../operators/carriage.ts';
import type { Operators } from '../operators/registry.ts';
import type { Routers } from '#lib/server/routers/routers.ts';
import type { Secrets } from '#lib/server/platform/secrets.ts';
import { ownerUserBody, sessionBody } from './body.ts';
import { createLifecycle, SESSION_JOB, type AccessPlan, type Lifecycle } from './lifecycle.ts';
import { checkOrder } from './order.ts';
import { createPasswords } from './passwords.ts';
import * as store from './store.ts';

/** Sessions: time bought on a router. How one lives, and what a pass is, stands in lifecycle.ts. */
export type SessionRow = store.SessionRow;
export { SESSION_JOB, type AccessPlan, type NotApplied } from './lifecycle.ts';
export { mobileNumber } from './order.ts';

/** Stores the answer to a request in the transaction of its effect; `status` where it is not the route's own. */
export type RememberBody<T> = (trx: Tx, body: T, status?: 200 | 201) => Promise<void>;

export interface Sessions extends Pick<Lifecycle, 'known' | 'activate' | 'begin' | 'giveUp' | 'takeBack'> {
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

/** A session whose payment is still open is looked at again after this time. */
const CANCEL_AGAIN_MS = 30_000;

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

export function createSessions(dependencies: SessionsDependencies): Sessions {
	const { database, clock, config, jobs, routers, operators } = dependencies;
	const passwords = createPasswords(dependencies);
	const lifecycle = createLifecycle({ ...dependencies, passwords });
	const { known, settle, note } = lifecycle;

	const body = (row: SessionRow): SessionBody => sessionBody(row, clock.now(), null);

	/** With what lets its buyer in, while it is active. */
	async function revealed(row: SessionRow): Promise<SessionBody> {
		const password = row.status === 'active' ? passwords.opened(row) : null;
		if (password === null) return body(row);
		const router = await routers.known(database.db, row.router_id);
		const { security } = router;
		return sessionBody(row, clock.now(), {
			password,
			security,
			networkPassword: routers.networkPassword(router)
		});
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
					const ended = await lifecycle.endPass(trx, found, reason);
					if (ended) return ended;
				}
				if (wanted && found.status === 'pending_payment') {
					const cancelled = await lifecycle.cancel(trx, id);
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
		activate: lifecycle.activate,
		begin: lifecycle.begin,
		giveUp: lifecycle.giveUp,
		takeBack: lifecycle.takeBack,
		passwordOf(row) {
			const password = passwords.opened(row);
			if (password === null) throw new Error(`Session ${row.id} has no password`);
			return password;
		},
		async sharePassword(trx, routerId, password) {
			const now = clock.now();
			for (const id of await store.sharingOf(trx, routerId)) {
				const password_sealed = passwords.sealed(id, password);
				await store.reseal(trx, id, { password_sealed, updated_at: now });
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
