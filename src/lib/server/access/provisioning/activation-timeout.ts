import { ACTIVATION_TIMEOUT_MS } from '../job-kinds.ts';
import type { AccessContext } from './context.ts';
import { releaseGrants } from './request-grant.ts';
import { find } from '../passes/store.ts';

/**
 * Refunds a pass that no gateway confirmed within ten minutes (job ACTIVATION_JOB). Releases its grants.
 *
 * Lost answer: a gateway may have let the device in. The buyer still gets the refund, at the owner's expense.
 * A gateway that is called disconnects the device. One that polls (openNDS level 4) cannot, because authmon
 * only asks whom to let in. The device then stays online until the end that was sent. A late acknowledgement
 * is answered but starts no time.
 * No refund possible: a person decides (`refund_not_supported`). Time that starts later would run without its
 * buyer.
 * @returns when to run again, or null when the pass does not wait
 */
export async function activationTimeout(context: AccessContext, passId: number): Promise<number | null> {
	const { database, clock, jobs, passes, sessions, payments } = context;
	const next = await database.transact(async (trx) => {
		const until = (await find(trx, passId))?.activating_until ?? null;
		if (until === null) return null;
		const latest = clock.now() + ACTIVATION_TIMEOUT_MS;
		// All jobs wake when the clock is set back. The buyer must not wait the extra hours.
		if (until > latest) await passes.setActivationDeadline(trx, passId, latest);
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
