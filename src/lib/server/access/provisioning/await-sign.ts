import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Jobs } from '#lib/server/jobs/jobs.ts';
import { isUnresponsive, type Routers } from '#lib/server/routers/routers.ts';
import type { Sessions } from '#lib/server/billing/sessions/sessions.ts';
import * as store from './store.ts';

export interface AwaitSignParts {
	database: Database;
	clock: Clock;
	jobs: Jobs;
	routers: Routers;
	sessions: Sessions;
}

/** So soon after a sign of its router the time of a buyer begins who waited for one. */
export const SIGN_MS = 5_000;

/**
 * A session that was paid while its router was silent, where nobody has to be told (RADIUS): its time begins when a
 * gateway of the router is heard of again. ACTIVATING_JOB gives the money back where none is. It is the condition under
 * which the portal does not sell, and no other: whoever could have bought a moment later does not wait.
 * @returns when to look again, or null when the session does not wait (any more)
 */
export async function awaitSign(parts: AwaitSignParts, sessionId: number): Promise<number | null> {
	const { database, clock, jobs, routers, sessions } = parts;
	const next = await database.transact(async (trx) => {
		const session = await sessions.known(trx, sessionId);
		if (session.status !== 'activating') return null;
		const now = clock.now();
		if (isUnresponsive(await routers.known(trx, session.router_id))) return now + SIGN_MS;
		// Its buyer has come to a gateway that is told: that one begins the time.
		const { pass_id: passId, router_id: routerId } = session;
		const [newest] = await store.devicesOf(trx, { passId, routerId }, now);
		const wanted = (await store.openGrantsOf(trx, passId)).filter((one) => one.released_at === null);
		if (newest && wanted.some((one) => one.gateway_id === newest.gateway_id)) return null;
		await sessions.begin(trx, sessionId, now);
		return null;
	});
	jobs.nudge();
	return next;
}
