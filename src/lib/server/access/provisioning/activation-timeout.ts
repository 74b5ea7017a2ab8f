import { ACTIVATION_TIMEOUT_MS } from '../job-kinds.ts';
import type { AccessContext } from './context.ts';
import { releaseGrants } from './request-grant.ts';
import { find } from '../passes/store.ts';

/**
 * Refunds a pass that no gateway confirmed within ten minutes (job ACTIVATION_JOB), and releases its grants.
 *
 * A gateway may have let the device in although its answer was lost. The refund still stands, at the owner's expense. A
 * gateway that is called disconnects the device. One that polls (openNDS level 4) cannot: authmon only asks whom to let
 * in, so the device stays online until the end that was sent. A late acknowledgement is answered but starts no time.
 * Where the operator cannot refund, a person is asked to (`refund_not_supported`): time that starts later would run while
 * its buyer has gone.
 * @returns when to run again, or null when the pass does not wait
 */
export async function activationTimeout(context: AccessContext, passId: number): Promise<number | null> {
	const { database, clock, jobs, passes, sessions, payments } = context;
	const next = await database.transact(async (trx) => {
		const until = (await find(trx, passId))?.activating_until ?? null;
		if (until === null) return null;
		const latest = clock.now() + ACTIVATION_TIMEOUT_MS;
		// The clock was set back, which wakes all jobs: the buyer does not wait for the lost hours too.
		if (until > latest) await passes.awaitGateway(trx, passId, latest);
		if (clock.now() < until) return Math.min(until, latest);
		for (const { id, payment_id: paymentId } of await sessions.cancelWaiting(trx, passId)) {
			if (paymentId === null) throw new Error(`Session ${id} waited for its gateway unpaid`);
			await payments.refundUnprovisioned(trx, paymentId);
		}
		await releaseGrants(context, trx, passId);
		return null;
	});
	jobs.nudge();
	return next;
}
