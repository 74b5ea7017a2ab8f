import type { AccessKind } from '#lib/domain/access-kind.ts';
import { nextOpen } from '#lib/domain/time/opening-hours.ts';
import type { RouterBody } from '../contract/router.ts';
import type { Config } from '../config/config.ts';
import type { RouterRow } from './store.ts';

type Mode = Pick<Config, 'mode'>;
type Zone = Pick<Config, 'reportTimezone'>;
type OfflineReason = NonNullable<RouterBody['status_reason']>;

export const sells = (row: RouterRow, config: Mode & Zone, now: number): boolean =>
	offlineReason(row, config, now) === null;

/** Whether a late payment still buys time. Money that is paid does not wait for a verification. */
export const takesLatePayment = (row: RouterRow, zone: Zone, now: number): boolean =>
	closedReason(row, zone, now) === null;

/** True if none of its gateways responds (gateways/health), so nobody could connect. */
export const isUnresponsive = (row: RouterRow): boolean => row.unresponsive_since !== null;

/** True if nothing shows that a buyer would get access. A shared password needs no gateway; a sandbox sells tests. */
export const isUnverified = (row: RouterRow, { mode }: Mode): boolean =>
	mode === 'live' &&
	row.access_kind !== 'shared_password' &&
	row.responded_at === null &&
	row.access_confirmed_at === null;

export const isPaused = (row: RouterRow, now: number): boolean =>
	row.paused_until !== null && now < row.paused_until;

/** Returns when a closed router opens automatically; null if it is open, or if only a person can open it. */
export function opensAt(row: RouterRow, { reportTimezone }: Zone, now: number): number | null {
	if (!isInService(row)) return null;
	const from = isPaused(row, now) ? (row.paused_until ?? now) : now;
	const at = row.opening_hours === null ? from : nextOpen(row.opening_hours, from, reportTimezone);
	return at === now ? null : at;
}

const isInService = (row: RouterRow): boolean => row.status === 'online' && row.disabled_at === null;

const isOpen = (row: RouterRow, zone: Zone, now: number): boolean =>
	isInService(row) && opensAt(row, zone, now) === null;

export const offlineReason = (row: RouterRow, config: Mode & Zone, now: number): OfflineReason | null =>
	isOpen(row, config, now) && isUnverified(row, config)
		? 'access_unverified'
		: closedReason(row, config, now);

function closedReason(
	row: RouterRow,
	zone: Zone,
	now: number
): Exclude<OfflineReason, 'access_unverified'> | null {
	if (!isOpen(row, zone, now)) return 'closed';
	if (isUnresponsive(row)) return 'gateway_unresponsive';
	return lacksNetworkPassword(row, row.access_kind) ? 'network_password_missing' : null;
}

/** True if buyers of this access kind would get the owner's password, and there is none. */
export const lacksNetworkPassword = (row: RouterRow, kind: AccessKind): boolean =>
	kind === 'shared_password' && row.network_password_sealed === null;
