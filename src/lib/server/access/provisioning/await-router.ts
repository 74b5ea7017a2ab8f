import { isUnresponsive } from '#lib/server/routers/routers.ts';
import { find } from '../passes/store.ts';
import type { AccessContext } from './context.ts';
import * as store from './grants/store.ts';
import { newestDevice } from './targets.ts';

export const AWAIT_ROUTER_MS = 5_000;

/**
 * Starts a pass that needs no grant (RADIUS) as soon as its router responds (job ROUTER_JOB). The portal
 * sells under the same condition. Otherwise ACTIVATION_JOB refunds the pass.
 * @returns when to run again, or null when the pass does not wait
 */
export async function awaitRouter(context: AccessContext, passId: number): Promise<number | null> {
	const { database, clock, jobs, routers, sessions } = context;
	const next = await database.transact(async (trx) => {
		const pass = await find(trx, passId);
		if (!pass || pass.activating_until === null) return null;
		if (isUnresponsive(await routers.findOrThrow(trx, pass.router_id))) return clock.now() + AWAIT_ROUTER_MS;
		// If the device's gateway needs a grant, its confirmation starts the time.
		const newest = await newestDevice(context, trx, pass);
		const wanted = (await store.openGrantsOf(trx, passId)).filter((one) => one.released_at === null);
		if (newest && wanted.some((one) => one.gateway_id === newest.gateway_id)) return null;
		await sessions.startTime(trx, pass);
		return null;
	});
	jobs.nudge();
	return next;
}
