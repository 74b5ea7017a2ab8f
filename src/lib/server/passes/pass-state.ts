import type { Queries } from '#lib/server/db/database.ts';
import type { Speed } from '#lib/server/gateways/gateway.ts';
import * as store from './store.ts';

/**
 * `unknown`: not a paid pass of this router. `waits`: paid, but a gateway must confirm it first; `untilMs` is
 * its end if that happened now. `over`: expired, ended or refunded.
 */
type PassState =
	| { kind: 'unknown' }
	| { kind: 'waits'; pass: store.PassRow; untilMs: number }
	| { kind: 'over'; pass: store.PassRow }
	| RunningPass;

export interface RunningPass {
	kind: 'runs';
	pass: store.PassRow;
	untilMs: number;
}

export const speedOf = (pass: Pick<store.PassRow, 'speed_down_kbps' | 'speed_up_kbps'>): Speed => ({
	down: pass.speed_down_kbps,
	up: pass.speed_up_kbps
});

export type OpenPass = Extract<PassState, { kind: 'waits' | 'runs' }>;

/** A pass without its password is over, even if a clock set back puts its end in the future. */
export const isOpen = (
	pass: Pick<store.PassRow, 'activating_until' | 'ends_at' | 'password_sealed'>,
	now: number
): boolean =>
	pass.activating_until !== null ||
	(pass.ends_at !== null && pass.ends_at > now && pass.password_sealed !== null);

export async function passState(
	queries: Queries,
	{ passId, routerId }: { passId: number; routerId: number | null },
	now: number
): Promise<PassState> {
	const pass = await store.find(queries, passId);
	if (!pass || (routerId !== null && pass.router_id !== routerId)) return { kind: 'unknown' };
	if (pass.activating_until !== null) {
		return { kind: 'waits', pass, untilMs: now + (await store.waitingSeconds(queries, passId)) * 1000 };
	}
	if (pass.ends_at === null) return { kind: 'unknown' };
	return isOpen(pass, now) ? { kind: 'runs', pass, untilMs: pass.ends_at } : { kind: 'over', pass };
}

export async function openPass(
	queries: Queries,
	passId: number,
	now: number,
	routerId: number | null = null
): Promise<OpenPass | null> {
	const state = await passState(queries, { passId, routerId }, now);
	return state.kind === 'runs' || state.kind === 'waits' ? state : null;
}
