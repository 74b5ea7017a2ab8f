import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Tx } from '#lib/server/db/database.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import type { Payments } from '#lib/server/billing/payments/payments.ts';
import type { Sessions } from '#lib/server/billing/sessions/sessions.ts';
import { ACTIVATING_MS, GRANT_JOB } from '../job-kinds.ts';
import * as store from './store.ts';

export interface GiveUpParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	sessions: Sessions;
	payments: Payments;
}

/**
 * No gateway let the buyer of a session in: the order is over, the money goes back, and whatever a gateway did without
 * our hearing of it is taken back. Nothing happens to a session that does not wait (any more).
 *
 * A gateway may have let the buyer in all the same: its answer was lost. The money goes back nevertheless, which is to
 * nobody's harm but the owner's. Who can be told (`push`) is told to put the guest out. One that fetches its guests
 * (`poll`, openNDS level 4) cannot be: authmon only asks whom to let in, and knows no list of devices to put out. There
 * the guest is not handed out any more and stays in until the end that the gateway was told, without having paid; an
 * acknowledgement that comes after this is answered like any, so that the router goes on, and begins nobody's time.
 * Nor do its next questions say what became of a guest whose acknowledgement was lost: it is handed out again, but
 * `ndsctl auth` does nothing for who is in already and says "No" (ndsctl_auth in ndsctl_thread.c), as for who is not
 * there, and authmon acknowledges neither.
 *
 * So too where the operator sends no money back: the state machine lets nobody wait for longer, and time that began later
 * would run while its buyer has gone. A person is asked to send it (`refund_not_supported`), and the buyer's page says so.
 * @returns when to look again, or null when it does not wait (any more)
 */
export async function giveUp(parts: GiveUpParts, sessionId: number): Promise<number | null> {
	const { database, clock, jobs, sessions, payments } = parts;
	const next = await database.transact(async (trx) => {
		const { status, activating_until: until } = await sessions.known(trx, sessionId);
		// A clock that was set back wakes all jobs.
		if (status === 'activating' && until !== null && clock.now() < until) {
			return Math.min(until, clock.now() + ACTIVATING_MS);
		}
		for (const { id, payment_id: paymentId, pass_id: passId } of await sessions.giveUp(trx, sessionId)) {
			if (paymentId === null) throw new Error(`Session ${id} waited for its gateway unpaid`);
			await payments.refundUnprovisioned(trx, paymentId);
			await release(parts, trx, passId);
		}
		return null;
	});
	jobs.nudge();
	return next;
}

/** Whoever a gateway has let in all the same, or will, is put out. */
export async function release(
	{ clock, jobs }: Pick<GiveUpParts, 'clock' | 'jobs'>,
	trx: Tx,
	passId: number
): Promise<void> {
	const now = clock.now();
	for (const { id } of await store.openGrantsOf(trx, passId)) {
		const from = { id, state: ['granting', 'granted'] } as const;
		await store.changeGrant(trx, from, { released_at: now, updated_at: now });
		await jobs.schedule(trx, GRANT_JOB, id, now);
	}
}
