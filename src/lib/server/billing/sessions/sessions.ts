import type { SessionBody, SessionCreationBody } from '#lib/server/api/contract/schemas.ts';
import type { Queries, Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import { activate, type NotApplied } from './activate.ts';
import { sessionBody } from './body.ts';
import { SESSION_JOB, type SessionsContext } from './context.ts';
import { createSession, type RememberBody } from './create-session.ts';
import { endSession } from './end-session.ts';
import { listForOwner, readSession, type OwnerPage, type OwnerQuery } from './read-session.ts';
import { startTime } from './start-time.ts';
import * as store from './store.ts';
import { cancelWaiting, takeBack } from './take-back.ts';
import { known, settle, settleDue } from './transition.ts';

export type SessionRow = store.SessionRow;
export type { NotApplied } from './activate.ts';
export type { SessionProvisioning } from './context.ts';
export type { RememberBody } from './create-session.ts';
export type { OwnerPage, OwnerQuery, SessionGroup } from './read-session.ts';
export { mobileNumber } from './order.ts';
export { sessionNotFound } from './read-session.ts';

/**
 * Sessions: purchases of time on a router.
 *
 * States:
 *
 *   pending_payment -> activating        a payment succeeded (activate)
 *   activating -> active                 the time starts (start-time), mostly in the same transaction
 *   activating -> cancelled              no gateway confirmed it in time (take-back); refunded
 *   active -> cancelled                  no gateway learnt of added time (take-back); refunded
 *   pending_payment -> cancelled         DELETE, or not paid in time (transition)
 *   cancelled(payment_timeout) -> activating   a success within the grace period (activate)
 *   active -> expired | ended            the clock, or DELETE
 *
 * Guarantees: a change applies only if the row is still in the state it starts from, and its event shares the
 * transaction. Sessions of one pass follow each other without a gap.
 */
export interface Sessions {
	create(
		caller: Caller,
		order: SessionCreationBody,
		remember?: RememberBody<SessionBody>
	): Promise<SessionBody>;
	read(caller: Caller, id: number): Promise<SessionBody>;
	end(caller: Caller, id: number, onlyStatus?: SessionRow['status']): Promise<SessionBody>;
	listForOwner(caller: Pick<Caller, 'accountId'>, query: OwnerQuery): Promise<OwnerPage>;
	/** The row of a session that exists. @throws Error */
	known(queries: Queries, id: number): Promise<SessionRow>;
	/** The caller's own session with due changes made; null when there is none or it is another account's. */
	ownCurrent(trx: Tx, caller: Caller, id: number): Promise<SessionRow | null>;
	/** Stores the newest payment that was started for an unpaid session. */
	notePayment(trx: Tx, id: number, paymentId: number): Promise<void>;
	activate(trx: Tx, id: number, paymentId: number): Promise<NotApplied | null>;
	startTime(trx: Tx, passId: number): Promise<boolean>;
	cancelWaiting(trx: Tx, passId: number): Promise<SessionRow[]>;
	takeBack(trx: Tx, id: number): Promise<boolean>;
	/** Handlers of the durable jobs. */
	jobs: Record<string, (id: number) => Promise<number | null>>;
}

export function createSessions(context: SessionsContext): Sessions {
	const { clock } = context;
	return {
		create: (caller, order, remember) => createSession(context, caller, order, remember),
		read: (caller, id) => readSession(context, caller, id),
		end: async (caller, id, onlyStatus) =>
			sessionBody(await endSession(context, caller, id, onlyStatus), clock.now(), null),
		listForOwner: (caller, query) => listForOwner(context, caller, query),
		known,
		async ownCurrent(trx, caller, id) {
			const row = await store.find(trx, id);
			return row?.account_id === caller.accountId ? settle(context, trx, row) : null;
		},
		async notePayment(trx, id, paymentId) {
			const from = { id, status: 'pending_payment' } as const;
			await store.change(trx, from, { payment_id: paymentId, updated_at: clock.now() });
		},
		activate: (trx, id, paymentId) => activate(context, trx, id, paymentId),
		startTime: (trx, passId) => startTime(context, trx, passId),
		cancelWaiting: (trx, passId) => cancelWaiting(context, trx, passId),
		takeBack: (trx, id) => takeBack(context, trx, id),
		jobs: { [SESSION_JOB]: (id) => settleDue(context, id) }
	};
}
