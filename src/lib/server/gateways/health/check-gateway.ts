import type { RegisteredGateway } from '../gateways.ts';
import { fetchGatewayStatus } from '../status.ts';
import type { GatewayRow } from '../store.ts';
import type { GatewayHealthContext } from './gateway-health.ts';
import * as store from './store.ts';
import { recordStatus } from './record-status.ts';

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

/**
 * Returns whether a check calls the gateway, instead of reading what it sent. An unresponsive RADIUS gateway may only have
 * lost its connections.
 */
export const needsProbe = ({ unreadable, mode, unresponsiveSince }: RegisteredGateway): boolean =>
	unreadable.length === 0 && (mode === 'push' || (mode === 'radius' && unresponsiveSince !== null));

export async function checkGateway(
	context: GatewayHealthContext,
	row: GatewayRow,
	gateway: RegisteredGateway,
	check: HealthCheck
): Promise<void> {
	const { database, log } = context;
	const isProbed = needsProbe(gateway);
	const answer = isProbed ? await probeGateway(context, gateway, check.signal) : 'unknown';
	if (check.signal.aborted) return;
	const seenAt = isProbed ? await store.findSeenAt(database.db, row.id) : row.seen_at;
	const verdict = judge(row, gateway, check, { answer, seenAt });
	const isSaved = await store.saveCheck(database.unsynced, row.id, { now: check.now, seenAt, ...verdict });
	if (!isSaved) return;
	const { unresponsiveSince } = verdict;
	const facts = { gateway: row.name, router: row.router_id };
	if (unresponsiveSince !== null && row.unresponsive_since === null) {
		log.warn({ ...facts, since: new Date(unresponsiveSince).toISOString() }, 'gateway unresponsive');
	}
	if (unresponsiveSince === null && row.missed_checks >= UNRESPONSIVE_CHECKS) {
		log.warn(facts, 'gateway responds again');
	}
}

/** `unknown`: not called, or our requests may never reach it. */
type Answer = 'responding' | 'unresponsive' | 'unknown';

async function probeGateway(
	context: GatewayHealthContext,
	gateway: RegisteredGateway,
	signal: AbortSignal
): Promise<Answer> {
	const { access, gateways } = context;
	if (gateway.mode === 'push') {
		return (await requestStatus(context, gateway, signal)) ? 'responding' : 'unresponsive';
	}
	const answer = await access.probeRadiusGateway(gateway);
	if (answer === 'responding') await recordStatus(gateways, gateway, { answered: true });
	return answer;
}

/** @returns whether the gateway responded as one that takes our commands. Any web server answers something. */
async function requestStatus(
	context: GatewayHealthContext,
	gateway: RegisteredGateway,
	stopping: AbortSignal
): Promise<boolean> {
	const { gateways, log, transport } = context;
	const status = await fetchGatewayStatus(gateway, transport, stopping).catch((error: unknown) => {
		if (!stopping.aborted) log.error({ err: error, gateway: gateway.name }, 'gateway adapter failed');
		return null;
	});
	if (stopping.aborted) return false;
	const problems = status?.problems.join(' ') ?? 'An error of ours; see the log.';
	if (!status?.isUsable) {
		await recordStatus(gateways, gateway, { trouble: problems });
		return false;
	}
	const { clockOffsetMs, online } = status;
	await recordStatus(gateways, gateway, {
		seen: true,
		trouble: problems || null,
		online,
		...(clockOffsetMs === null ? {} : { clockOffsetMs })
	});
	return true;
}

/** A gateway is alive after a new sign of life, and misses a check that expected one. */
function judge(
	row: GatewayRow,
	{ mode, unreadable, unresponsiveSince }: RegisteredGateway,
	{ now, counts, reporting }: HealthCheck,
	{ answer, seenAt }: { answer: Answer; seenAt: number | null }
): { missedChecks: number; unresponsiveSince: number | null } {
	if (unreadable.length > 0) return { missedChecks: UNRESPONSIVE_CHECKS, unresponsiveSince };
	const isAlive = answer === 'responding' || seenAt !== row.checked_seen_at;
	const isExpected =
		mode === 'radius'
			? answer === 'unresponsive' || (reporting.get(row.id) ?? 0) > 0
			: mode === 'push' || mode === 'poll';
	if (isAlive || !isExpected) return { missedChecks: 0, unresponsiveSince: null };
	const before = { missedChecks: row.missed_checks, unresponsiveSince: row.unresponsive_since };
	if (before.unresponsiveSince !== null || !counts) return before;
	const missedChecks = before.missedChecks + 1;
	const isUnresponsive = missedChecks >= UNRESPONSIVE_CHECKS;
	return { missedChecks, unresponsiveSince: isUnresponsive ? Math.min(seenAt ?? now, now) : null };
}
