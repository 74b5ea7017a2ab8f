import { GRANT_JOB } from '../../job-kinds.ts';
import { openPass } from '../../passes/pass-state.ts';
import type { AccessContext } from '../context.ts';
import * as store from '../grants/store.ts';
import { requestGrant } from '../request-grant.ts';

/**
 * Requests a released grant again, for a gateway that stays after all. A new grant replaces the old one, and
 * undoes anything that a job still does to the old one.
 */
export async function regrant(context: AccessContext, id: number): Promise<void> {
	const { database, clock, jobs } = context;
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
		const { gateway_id: gatewayId, mac, captive_session_id: captiveSessionId } = old;
		const subject = { gatewayId, mac, captiveSessionId };
		// The gateway may still carry out a request of the old grant, and its counter may go on.
		const { unanswered_at, is_marked, data_bytes, data_reported_at } = old;
		const before = { unanswered_at, is_marked, data_bytes, data_reported_at };
		await requestGrant(context, trx, old.pass_id, subject, before);
		// `revoked_at` keeps a user online that is wanted again (revoke-at-gateway.ts).
		await store.changeOpen(trx, id, { state: 'revoking', revoked_at: now, updated_at: now });
	});
	jobs.nudge();
}
