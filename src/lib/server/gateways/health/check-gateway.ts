import type { RegisteredGateway } from '../gateways.ts';
import { gatewayStatus } from '../status.ts';
import type { GatewayRow } from '../store.ts';
import type { GatewayHealthContext } from './gateway-health.ts';
import * as store from './store.ts';

/** About three minutes. Counts checks instead of time, because a suspended process receives nothing. */
const UNRESPONSIVE_CHECKS = 3;

export interface HealthCheck {
	now: number;
	/** False after a pause in which nothing was received: missing signs of life do not count. */
	counts: boolean;
	/** By gateway id: open connections on which it should report. */
	reporting: ReadonlyMap<number, number>;
	signal: AbortSignal;
}

/** An unresponsive RADIUS gateway may only have lost its connections. */
const mayHaveLostConnections = ({ mode, unresponsiveSince }: RegisteredGateway) =>
	unresponsiveSince !== null && mode === 'radius';

/** Returns whether a check calls the gateway, instead of reading what it sent. */
export const needsProbe = (gateway: RegisteredGateway): boolean =>
	gateway.unreadable.length === 0 && (gateway.mode === 'push' || mayHaveLostConnections(gateway));

export async function checkGateway(
	context: GatewayHealthContext,
	row: GatewayRow,
	gateway: RegisteredGateway,
	{ now, counts, reporting, signal }: HealthCheck
): Promise<void> {
	const { database, gateways, access } = context;
	const { mode } = gateway;
	if (gateway.unreadable.length > 0) {
		const { unresponsiveSince } = gateway;
		return save(context, row, {
			now,
			seenAt: row.seen_at,
			missedChecks: UNRESPONSIVE_CHECKS,
			unresponsiveSince
		});
	}
	const responded = mode === 'push' && (await requestStatus(context, gateway, signal));
	const probeResult = mayHaveLostConnections(gateway) ? await access.probeRadiusGateway(gateway) : 'unknown';
	if (probeResult === 'responding') await gateways.recordStatus(gateway, { answered: true });
	if (signal.aborted) return;
	const wasProbed = mode === 'push' || probeResult !== 'unknown';
	const seenAt = wasProbed ? await store.seenAt(database.db, row.id) : row.seen_at;
	const isMonitored = mode === 'push' || mode === 'poll' || mode === 'radius';
	const before = { missedChecks: row.missed_checks, unresponsiveSince: row.unresponsive_since };
	const verdict = judge(before, {
		isAlive: responded || probeResult === 'responding' || !isMonitored || seenAt !== row.checked_seen_at,
		isExpected: mode !== 'radius' || probeResult === 'unresponsive' || (reporting.get(row.id) ?? 0) > 0,
		counts,
		seenAt,
		now
	});
	await save(context, row, { now, seenAt, ...verdict });
}

async function save(
	context: GatewayHealthContext,
	row: GatewayRow,
	check: Parameters<typeof store.saveCheck>[2]
): Promise<void> {
	const isSaved = await store.saveCheck(context.database.unsynced, row.id, check);
	if (isSaved) logChange(context, row, check.unresponsiveSince);
}

function logChange({ log }: GatewayHealthContext, row: GatewayRow, unresponsiveSince: number | null) {
	const facts = { gateway: row.name, router: row.router_id };
	if (unresponsiveSince !== null && row.unresponsive_since === null) {
		log.warn({ ...facts, since: new Date(unresponsiveSince).toISOString() }, 'gateway unresponsive');
	}
	if (unresponsiveSince === null && row.missed_checks >= UNRESPONSIVE_CHECKS) {
		log.warn(facts, 'gateway responds again');
	}
}

/** @returns whether the gateway responded as one that takes our commands. Any web server answers something. */
async function requestStatus(
	context: GatewayHealthContext,
	gateway: RegisteredGateway,
	stopping: AbortSignal
): Promise<boolean> {
	const { gateways, log, transport } = context;
	const status = await gatewayStatus(gateway, transport, stopping).catch((error: unknown) => {
		if (!stopping.aborted) log.error({ err: error, gateway: gateway.name }, 'gateway adapter failed');
		return null;
	});
	if (stopping.aborted) return false;
	const problems = status?.problems.join(' ') ?? 'An error of ours; see the log.';
	if (!status?.isUsable) {
		await gateways.recordStatus(gateway, { trouble: problems });
		return false;
	}
	const { clockOffsetMs, online } = status;
	await gateways.recordStatus(gateway, {
		seen: true,
		trouble: problems || null,
		online,
		...(clockOffsetMs === null ? {} : { clockOffsetMs })
	});
	return true;
}

interface Verdict {
	missedChecks: number;
	unresponsiveSince: number | null;
}

/** `isAlive`: a new sign of life. `isExpected`: one was due. `counts`: a missing one counts. */
function judge(
	before: Verdict,
	observation: { isAlive: boolean; isExpected: boolean; counts: boolean; seenAt: number | null; now: number }
): Verdict {
	const { isAlive, isExpected, counts, seenAt, now } = observation;
	if (isAlive || !isExpected) return { missedChecks: 0, unresponsiveSince: null };
	if (before.unresponsiveSince !== null || !counts) return before;
	const missedChecks = before.missedChecks + 1;
	const isUnresponsive = missedChecks >= UNRESPONSIVE_CHECKS;
	return { missedChecks, unresponsiveSince: isUnresponsive ? Math.min(seenAt ?? now, now) : null };
}
