import { isUnresponsive } from '#lib/server/routers/routers.ts';
import { find } from '../passes/store.ts';
import type { AccessContext } from './context.ts';
import * as store from './grants/store.ts';
import { newestDevice } from './targets.ts';

/** Interval at which a waiting pass looks for a response of its router. */
export const AWAIT_ROUTER_MS = 5_000;

/**
 * Starts a pass that was paid while its router did not respond and needs no grant (RADIUS), as soon as the router
 * responds (job ROUTER_JOB). ACTIVATION_JOB refunds it otherwise. The condition is the one under which the portal sells.
 * @returns when to run again, or null when the pass does not wait
 */
export async function awaitRouter(context: AccessContext, passId: number): Promise<number | null> {
	const { database, clock, jobs, routers, sessions } = context;
	const next = await database.transact(async (trx) => {
		const pass = await find(trx, passId);
		if (!pass || pass.activating_until === null) return null;
		if (isUnresponsive(await routers.known(trx, pass.router_id))) return clock.now() + AWAIT_ROUTER_MS;
		// A device at a gateway that needs a grant: the confirmation starts the time.
		const newest = await newestDevice(context, trx, pass);
		const wanted = (await store.openGrantsOf(trx, passId)).filter((one) => one.released_at === null);
		if (newest && wanted.some((one) => one.gateway_id === newest.gateway_id)) return null;
		await sessions.startTime(trx, pass);
		return null;
	});
	jobs.nudge();
	return next;
}
