import type { PassRow } from '#lib/server/access/passes/passes.ts';
import type { SessionBody, SessionCreationBody } from '#lib/server/api/contract/schemas.ts';
import type { Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/developer/api-keys/api-keys.ts';
import { activate, startTime } from './activate.ts';
import { SESSION_JOB, type SessionsContext } from './context.ts';
import { createSession, type RememberBody } from './create-session.ts';
import { cancelWaiting, endForOwner, endSession, endAtDataLimit, cancelAddedTime } from './end-session.ts';
import { activeForOwner, endedForOwner, listForOwner } from './owner-sessions.ts';
import { listSessions, readSession } from './read-session.ts';
import * as store from './store.ts';
import { known, settle, settleDue, shownSession } from './transition.ts';

export { asOfNow } from './body.ts';
export type { NotApplied } from './activate.ts';
export type { SessionProvisioning } from './context.ts';
export type { RememberBody } from './create-session.ts';
export type { SessionRow } from './store.ts';
export { mobileNumber } from './create-session.ts';
export { sessionNotFound } from './read-session.ts';

/**
 * Sessions: purchases of time on a router.
 *
 * States:
 *
 *   pending_payment -> activating        a payment succeeded (activate)
 *   activating -> active                 the time starts (activate), mostly in the same transaction
 *   activating -> cancelled              no gateway confirmed it in time (end-session); refunded
 *   active -> cancelled                  no gateway learnt of added time (end-session); refunded
 *   pending_payment -> cancelled         DELETE, or not paid in time (transition)
 *   cancelled(payment_timeout) -> activating   a success within the grace period (activate)
 *   active -> expired                    the clock
 *   active -> ended                      DELETE, or the data of the pass is used (end-session)
 *
 * Guarantees: a change applies only if the row is still in the state where it starts. Its event shares the
 * transaction. Sessions of one pass follow each other without a gap.
 */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(context: SessionsContext) {
	const { clock } = context;
	return {
		create: (caller: Caller, order: SessionCreationBody, remember?: RememberBody<SessionBody>) =>
			createSession(context, caller, order, remember),
		read: (caller: Caller, id: number) => readSession(context, caller, id),
		end: async (caller: Caller, id: number, onlyStatus?: store.SessionStatus) =>
			shownSession(context, context.database.db, await endSession(context, caller, id, onlyStatus)),
		endForOwner: endForOwner.bind(null, context),
		list: listSessions.bind(null, context),
		listForOwner: listForOwner.bind(null, context),
		activeForOwner: activeForOwner.bind(null, context),
		endedForOwner: endedForOwner.bind(null, context),
		known,
		laterInPass: store.laterInPass,
		/** Returns the caller's own session after due changes; null for others. */
		async ownCurrent(trx: Tx, caller: Caller, id: number): Promise<store.SessionRow | null> {
			const row = await store.find(trx, id);
			return row?.account_id === caller.accountId ? settle(context, trx, row) : null;
		},
		/** Stores the newest payment of an unpaid session. */
		async notePayment(trx: Tx, id: number, paymentId: number): Promise<void> {
			const from = { id, status: 'pending_payment' } as const;
			await store.change(trx, from, { payment_id: paymentId, updated_at: clock.now() });
		},
		activate: (trx: Tx, id: number, paymentId: number) => activate(context, trx, id, paymentId),
		startTime: (trx: Tx, pass: PassRow) => startTime(context, trx, pass),
		cancelWaiting: (trx: Tx, passId: number) => cancelWaiting(context, trx, passId),
		endAtDataLimit: (trx: Tx, passId: number) => endAtDataLimit(context, trx, passId),
		cancelAddedTime: (trx: Tx, id: number) => cancelAddedTime(context, trx, id),
		jobs: { [SESSION_JOB]: (id: number) => settleDue(context, id) }
	};
}
