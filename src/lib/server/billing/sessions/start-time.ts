import type { PassRow } from '#lib/server/access/passes/passes.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { SESSION_JOB, type SessionsContext } from './context.ts';
import * as store from './store.ts';
import { transition } from './transition.ts';

/**
 * Starts the time of a pass's paid sessions, one after the other: now, or at the end of a running pass.
 *
 * All time starts here, including late successes and added time. Payments that succeed at once add up,
 * because transactions behave as if they ran one after the other.
 * @param pass as read in this transaction: another read would add conflicts on PostgreSQL
 * @returns false if no paid session waits
 */
export async function startTime(context: SessionsContext, trx: Tx, pass: PassRow): Promise<boolean> {
	const { clock, jobs, passes, provisioning } = context;
	const now = clock.now();
	const isRunning = pass.ends_at !== null && pass.ends_at > now;
	const startsAt = isRunning && pass.starts_at !== null ? pass.starts_at : now;
	let endsAt = isRunning && pass.ends_at !== null ? pass.ends_at : now;
	const waiting = await store.activatingOf(trx, pass.id);
	for (const { id, duration_seconds: seconds } of waiting) {
		const from = endsAt;
		endsAt += seconds * 1000;
		const to = { status: 'active', starts_at: from, expires_at: endsAt } as const;
		await transition(context, trx, { id, status: 'activating' }, to, 'session.activated');
		await jobs.schedule(trx, SESSION_JOB, id, endsAt);
		if (from !== startsAt) await provisioning.added(trx, { id }, from);
	}
	if (waiting.length === 0) return false;
	await passes.setTime(trx, pass.id, { startsAt, endsAt });
	await provisioning.changed(trx, pass.id);
	return true;
}
