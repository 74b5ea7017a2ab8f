import type { Tx } from '#lib/server/db/database.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import type { OpenPass } from '#lib/server/passes/passes.ts';
import type { AccessContext } from '../context.ts';
import { newestDevice } from '../targets.ts';
import * as store from './store.ts';

/**
 * Stores a confirmed end and starts the time of a waiting buyer.
 * @returns when to run again, or null when the request does not count any more
 */
export async function confirmGrant(
	context: AccessContext,
	grant: store.GrantRow,
	open: OpenPass,
	endMs: number
): Promise<number | null> {
	const { clock, jobs, sessions, passes } = context;
	const { id, revision, pass_id: passId } = grant;
	return context.database.transact(async (trx) => {
		const now = clock.now();
		const requested = (await store.findGrant(trx, id))?.requested_end_at;
		const to = {
			state: 'granted',
			requested_end_at: endMs,
			confirmed_end_at: endMs,
			granted_at: grant.granted_at ?? now,
			// The gateway may still carry out a request with a lost answer, even one of a dead process. A
			// device that is disconnected next is therefore disconnected twice.
			unanswered_at: grant.attempts > 0 ? now : grant.unanswered_at,
			attempts: 0,
			last_error: null,
			updated_at: now
		} as const;
		if (!(await store.changeWanted(trx, { id, revision }, to))) {
			// Meanwhile the grant was requested again, or released and perhaps revoked.
			await store.revokeAgain(trx, id, now);
			await jobs.schedule(trx, GRANT_JOB, id, now);
			return null;
		}
		// Another run of its job has sent another end, which this one may have replaced at the gateway.
		if (requested !== endMs) await jobs.schedule(trx, GRANT_JOB, id, now);
		if (open.kind === 'runs' || !(await isAwaited(context, trx, grant, open))) return open.untilMs;
		// Another gateway may have started the time with another end.
		if (!(await sessions.startTime(trx, await passes.findOrThrow(trx, passId)))) return now;
		for (const other of await store.openGrantsOf(trx, passId)) {
			if (other.id !== id) await jobs.schedule(trx, GRANT_JOB, other.id, now);
		}
		return (await passes.findOrThrow(trx, passId)).ends_at;
	});
}

/** Whether this grant starts the time: only one at the buyer's own gateway does, if there is one. */
async function isAwaited(
	context: AccessContext,
	trx: Tx,
	grant: store.GrantRow,
	{ pass }: OpenPass
): Promise<boolean> {
	const newest = await newestDevice(context, trx, pass);
	if (!newest || newest.gateway_id === grant.gateway_id) return true;
	const open = await store.openGrantsOf(trx, pass.id);
	return !open.some((one) => one.gateway_id === newest.gateway_id && one.released_at === null);
}
