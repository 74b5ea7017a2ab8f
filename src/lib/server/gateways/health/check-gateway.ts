import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayStatus } from '../gateway.ts';
import type { RegisteredGateway } from '../gateways.ts';
import { adapterOf, gatewayStatus } from '../registry.ts';
import type { GatewayHealthContext } from './gateway-health.ts';
import * as store from './store.ts';
import { judge, UNRESPONSIVE_CHECKS } from './verdict.ts';

export interface Round {
	now: number;
	/** False after a pause in which nothing was received: missing signs of life do not count. */
	counts: boolean;
	/** By gateway id: open connections on which it should report. */
	reporting: ReadonlyMap<number, number>;
	signal: AbortSignal;
}

const STATUS_TIMEOUT_MS = 12_000;

const modeOf = (gateway: RegisteredGateway) => adapterOf(gateway.kind).controlMode(gateway);

/** An unresponsive RADIUS gateway may only have lost its connections. */
const mayHaveLostConnections = (gateway: RegisteredGateway) =>
	gateway.unresponsiveSince !== null && modeOf(gateway) === 'radius';

/** Returns whether a check calls the gateway, instead of reading what it sent. */
export const needsProbe = (gateway: RegisteredGateway): boolean =>
	modeOf(gateway) === 'push' || mayHaveLostConnections(gateway);

export async function checkGateway(
	context: GatewayHealthContext,
	row: store.CheckRow,
	gateway: RegisteredGateway,
	{ now, counts, reporting, signal }: Round
): Promise<void> {
	const { database, gateways, access } = context;
	const mode = modeOf(gateway);
	const responded = mode === 'push' && (await requestStatus(context, gateway, signal));
	const life = mayHaveLostConnections(gateway) ? await access.lifeOf(gateway) : 'unknown';
	if (life === 'responding') await gateways.recordStatus(gateway, { answered: true });
	if (signal.aborted) return;
	const wasProbed = mode === 'push' || life !== 'unknown';
	const seenAt = wasProbed ? await store.seenAt(database.db, row.id) : row.seen_at;
	const isMonitored = mode === 'push' || mode === 'poll' || mode === 'radius';
	const before = { missedChecks: row.missed_checks, unresponsiveSince: row.unresponsive_since };
	const verdict = judge(before, {
		isAlive: responded || life === 'responding' || !isMonitored || seenAt !== row.checked_seen_at,
		isExpected: mode !== 'radius' || life === 'unresponsive' || (reporting.get(row.id) ?? 0) > 0,
		counts,
		seenAt,
		now
	});
	if (await store.saveCheck(database.db, row.id, { now, seenAt, ...verdict })) {
		logChange(context, row, verdict.unresponsiveSince);
	}
}

function logChange({ log }: GatewayHealthContext, row: store.CheckRow, unresponsiveSince: number | null) {
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
	const { gateways } = context;
	const status = await statusOf(context, gateway, stopping);
	if (stopping.aborted) return false;
	const problems = status?.problems.join(' ') ?? '';
	if (!status?.isUsable) {
		const trouble = problems || `The gateway did not respond within ${STATUS_TIMEOUT_MS / 1000} seconds.`;
		await gateways.recordStatus(gateway, { trouble });
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

/** @returns null if the gateway timed out, or the process stops */
async function statusOf(
	{ log, reach }: GatewayHealthContext,
	gateway: RegisteredGateway,
	stopping: AbortSignal
): Promise<GatewayStatus | null> {
	const responded = new AbortController();
	const signal = AbortSignal.any([responded.signal, stopping]);
	try {
		const timeout = sleep(STATUS_TIMEOUT_MS, null, { signal }).catch(() => null);
		return await Promise.race([gatewayStatus(gateway.kind, gateway, reach), timeout]);
	} catch (error) {
		log.error({ err: error, gateway: gateway.name }, 'gateway adapter failed');
		return null;
	} finally {
		responded.abort();
	}
}
