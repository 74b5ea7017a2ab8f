import type { Tx } from '#lib/server/db/database.ts';
import { GRANT_JOB } from '../../job-kinds.ts';
import type { OpenPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import { newestDevice } from '../targets.ts';
import * as store from './store.ts';

/**
 * Stores that a gateway confirmed an end, and starts the time of a buyer who waited for that.
 * @returns when to run again, or null when the confirmed request no longer counts
 */
export async function confirmGrant(
	context: AccessContext,
	grant: store.GrantRow,
	open: OpenPass,
	endMs: number
): Promise<number | null> {
	const { database, clock, jobs, sessions, passes } = context;
	const { id, revision, pass_id: passId } = grant;
	const next = await database.transact(async (trx) => {
		const now = clock.now();
		const to = {
			state: 'granted',
			requested_end_at: endMs,
			confirmed_end_at: endMs,
			granted_at: grant.granted_at ?? now,
			// An earlier request with a lost answer may still be carried out, also one of a process that died: a device
			// that is disconnected next is disconnected twice.
			unanswered_at: grant.attempts > 0 ? now : grant.unanswered_at,
			attempts: 0,
			last_error: null,
			updated_at: now
		} as const;
		const from = { id, revision, state: ['granting', 'granted'], wanted: true } as const;
		if (!(await store.changeGrant(trx, from, to))) {
			// Requested again meanwhile, or released and maybe revoked before the gateway carried this out.
			await store.revokeAgain(trx, id, now);
			await jobs.schedule(trx, GRANT_JOB, id, now);
			return null;
		}
		if (open.kind === 'runs' || !(await isAwaited(context, trx, grant, open))) return open.untilMs;
		// Another gateway may have started the time meanwhile, with another end.
		if (!(await sessions.startTime(trx, await passes.known(trx, passId)))) return now;
		for (const other of await store.openGrantsOf(trx, passId)) {
			if (other.id !== id) await jobs.schedule(trx, GRANT_JOB, other.id, now);
		}
		return (await passes.known(trx, passId)).ends_at;
	});
	jobs.nudge();
	return next;
}

/** Whether the buyer's time starts with this grant: it does at the gateway of the buyer's device, if that has a grant. */
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
