import type { Clock } from '#lib/server/platform/clock.ts';
import type { Queries } from '#lib/server/db/database.ts';
import type { SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import * as store from '../provisioning/store.ts';

/** What a pass is at this moment. */
export interface PassNow {
	session: SessionRow;
	/** When its time is over; for one that is about to begin: when it would be. */
	untilMs: number;
	/** The session that waits for its gateway. */
	activating: SessionRow | null;
}

/** null when nothing of it is valid (any more). */
export async function passNow(queries: Queries, clock: Clock, passId: number): Promise<PassNow | null> {
	const now = clock.now();
	const open = await store.openSessionsOf(queries, passId);
	const running = open.filter(({ status, expires_at }) => status === 'active' && (expires_at ?? 0) > now);
	const [session] = running;
	const ends = running.map(({ expires_at }) => expires_at ?? 0);
	if (session) return { session, untilMs: Math.max(...ends), activating: null };
	const waiting = open.filter(({ status }) => status === 'activating');
	const activating = waiting.find(({ id }) => id === passId) ?? waiting[0];
	if (!activating) return null;
	const seconds = waiting.reduce((sum, { duration_seconds: own }) => sum + own, 0);
	return { session: activating, untilMs: now + seconds * 1000, activating };
}
