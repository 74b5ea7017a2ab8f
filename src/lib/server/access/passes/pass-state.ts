import type { Queries } from '#lib/server/db/database.ts';
import type { SessionRow } from '#lib/server/billing/sessions/sessions.ts';
import { sessionsOf } from '../device-slots/store.ts';

/**
 * What a pass is at a moment on one router. `unknown`: nobody paid for it there. `waits`: paid, and a gateway has to be
 * told first. `over`: its time is over, or somebody ended it (`ended`).
 */
export type PassState =
	| { kind: 'unknown' }
	| { kind: 'waits' }
	| { kind: 'over'; ended: boolean }
	| { kind: 'runs'; session: SessionRow; untilMs: number };

/** @param routerId null: wherever it is valid */
export async function passState(
	queries: Queries,
	{ passId, routerId }: { passId: number; routerId: number | null },
	now: number
): Promise<PassState> {
	const all = await sessionsOf(queries, passId);
	const here = all.filter(({ router_id }) => routerId === null || router_id === routerId);
	const running = here.filter(({ status, expires_at }) => status === 'active' && (expires_at ?? 0) > now);
	const [session] = running;
	// Added time follows without a gap: the pass ends with its last session.
	if (session) {
		return { kind: 'runs', session, untilMs: Math.max(...running.map(({ expires_at }) => expires_at ?? 0)) };
	}
	if (here.some(({ status }) => status === 'activating')) return { kind: 'waits' };
	const begun = here.filter(({ starts_at }) => starts_at !== null);
	if (begun.length === 0) return { kind: 'unknown' };
	return { kind: 'over', ended: begun.some(({ status }) => status === 'ended') };
}
