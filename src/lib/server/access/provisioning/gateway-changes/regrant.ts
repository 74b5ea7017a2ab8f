import { GRANT_JOB } from '../../job-kinds.ts';
import { openPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import * as store from '../grants/store.ts';

/**
 * Requests a released grant again, for a gateway that stays after all. A new grant replaces the old one, and
 * undoes anything that a job still does to the old one.
 */
export async function regrant({ database, clock, jobs }: AccessContext, id: number): Promise<void> {
	const now = clock.now();
	await database.transact(async (trx) => {
		const old = await store.findGrant(trx, id);
		if (!old) return;
		await jobs.schedule(trx, GRANT_JOB, id, now);
		const open = await openPass(trx, old.pass_id, now);
		if (!open) return;
		const wanted = (await store.openGrantsOf(trx, old.pass_id)).filter(store.isWanted);
		// The device has returned, or other devices have the slots.
		if (wanted.some(({ gateway_id, mac }) => gateway_id === old.gateway_id && mac === old.mac)) return;
		const devices = wanted.filter(({ mac }) => mac !== null).length;
		if (old.mac !== null && devices >= open.pass.max_devices) return;
		const row = await store.insertGrant(trx, {
			pass_id: old.pass_id,
			gateway_id: old.gateway_id,
			mac: old.mac,
			captive_session_id: old.captive_session_id,
			state: 'granting',
			requested_end_at: null,
			granted_at: null,
			released_at: null,
			revoked_at: null,
			// The gateway may still carry out a request of the old grant.
			unanswered_at: old.unanswered_at,
			is_marked: old.is_marked,
			last_error: null,
			created_at: now,
			updated_at: now
		});
		// `revoked_at` keeps a user online that is wanted again (revoke-at-gateway.ts).
		const to = { state: 'revoking', revoked_at: now, updated_at: now } as const;
		await store.changeGrant(trx, { id, state: store.OPEN }, to);
		await jobs.schedule(trx, GRANT_JOB, row.id, now);
	});
	jobs.nudge();
}
