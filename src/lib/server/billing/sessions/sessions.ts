import type { Tx } from '#lib/server/db/database.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { activate, startTime } from './activate.ts';
import { SESSION_END_JOB, type SessionsContext } from './context.ts';
import { createSession } from './create-session.ts';
import {
	cancelUnconfirmed,
	cancelWaiting,
	endAtDataLimit,
	endExtraTime,
	endForOwner,
	endRefunded,
	endSession
} from './end-session.ts';
import { giveExtraTime } from './extra-time.ts';
import { countForOwner, listForOwner } from './owner-sessions.ts';
import { listSessions, sessionAtOwner, readExtended, readSession } from './read-session.ts';
import * as store from './store.ts';
import {
	applyDueChange,
	current,
	extraTimeUntil,
	findOrThrow,
	runSessionJob,
	shownSession
} from './transition.ts';

export { asOfNow } from './body.ts';
export type { UnappliedReason } from './activate.ts';
export type { Provisioning } from './context.ts';
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
 *   active -> cancelled                  no gateway learnt of time that started unconfirmed (end-session); refunded
 *   pending_payment -> cancelled         DELETE, or not paid in time (transition)
 *   cancelled(payment_timeout) -> activating   a success within the grace period (activate)
 *   active -> expired                    the clock
 *   active -> ended                      DELETE, its data is used, or its owner ends or refunds it (end-session)
 *
 * Guarantees: a change applies only if the row is still in the state where it starts. Its event shares the
 * transaction. Sessions of one pass follow each other without a gap, except for extra time after the last one's end:
 * that opens the pass again and changes no session.
 */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions(context: SessionsContext) {
	const { clock } = context;
	const bind = binder(context);
	return {
		create: bind(createSession),
		read: bind(readSession),
		end: async (caller: Caller, id: number, onlyStatus?: store.SessionStatus) =>
			shownSession(context, context.database.db, await endSession(context, caller, id, onlyStatus)),
		endForOwner: bind(endForOwner),
		giveExtraTime: bind(giveExtraTime),
		extraTimeMs: store.extraTimeMs,
		extraTimeUntil: bind(extraTimeUntil),
		endExtraTime: bind(endExtraTime),
		readExtended: bind(readExtended),
		sessionAtOwner: bind(sessionAtOwner),
		endRefunded: bind(endRefunded),
		list: bind(listSessions),
		listForOwner: bind(listForOwner),
		countForOwner: bind(countForOwner),
		findOrThrow,
		current: bind(current),
		activeOf: store.activeOf,
		laterInPass: store.laterInPass,
		isPaying: store.isPaying,
		/** Returns the caller's own session after due changes; null for others. */
		async ownCurrent(trx: Tx, caller: Caller, id: number): Promise<store.SessionRow | null> {
			const row = await store.find(trx, id);
			return row?.account_id === caller.accountId ? applyDueChange(context, trx, row) : null;
		},
		async notePayment(trx: Tx, id: number, paymentId: number): Promise<void> {
			const from = { id, status: 'pending_payment' } as const;
			await store.change(trx, from, { payment_id: paymentId, updated_at: clock.now() });
		},
		activate: bind(activate),
		startTime: bind(startTime),
		cancelWaiting: bind(cancelWaiting),
		endAtDataLimit: bind(endAtDataLimit),
		cancelUnconfirmed: bind(cancelUnconfirmed),
		jobs: { [SESSION_END_JOB]: bind(runSessionJob) }
	};
}
