import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Base } from '#lib/server/base.ts';
import type { GatewayTransport } from '../gateway.ts';
import type { Gateways, RegisteredGateway } from '../gateways.ts';
import { iterateGateways, type GatewayRow } from '../store.ts';
import { checkGateway, needsProbe, type HealthCheck } from './check-gateway.ts';
import * as store from './store.ts';
import { openGateway } from '../gateway-record.ts';

export interface GatewayHealthContext extends Base {
	gateways: Gateways;
	/** access/, which knows the open connections. */
	access: {
		probeRadiusGateway(gateway: RegisteredGateway): Promise<'responding' | 'unresponsive' | 'unknown'>;
	};
	transport: GatewayTransport;
}

/** Scheduled by the first migration. */
const CHECK_GATEWAYS_JOB = 'gateways.check';

const CHECK_MS = 60_000;
/** Skips an earlier check, for example after a restart. */
const MIN_GAP_MS = 45_000;
/** After a longer gap a check does not count, because nothing was received meanwhile. */
const MAX_GAP_MS = 150_000;
const MAX_CONCURRENT_PROBES = 8;
/** The check starts no probes after this time. The next check begins with the others, the least recently checked first. */
const PROBES_MS = 40_000;
/** A report this long after the start shows that a connection sends interim reports. */
const REPORTED_AFTER_MS = 30_000;
/** Fifteen times the interval of interim reports. */
const LOST_MS = 15 * 60_000;

/**
 * Finds unresponsive gateways, once a minute.
 *
 * Purpose: a router without a responding gateway is `offline` and sells nothing. Otherwise buyers would pay
 * and stay offline.
 * Signs of life: `push` gateways answer a status request, `poll` gateways poll, and `radius` gateways report
 * on open connections. `browser` and `external` gateways are not monitored, nor are `radius` gateways without
 * open connections.
 * Recovery: a check probes an unresponsive `radius` gateway if it accepts Disconnect-Requests. Otherwise
 * connections without a report for LOST_MS count as ended, and the router sells again. Without this rule, a
 * lost Stop or a power cut would keep the router offline for ever.
 * Concurrency: one job in one process at a time checks all gateways. Probes are shared among owners, so that one with
 * many slow gateways does not delay the others.
 */
export function createGatewayHealth(context: GatewayHealthContext) {
	const stopping = new AbortController();
	return {
		// Without the fence: a result counts only if the gateway has not responded meanwhile, and the next check replaces it.
		jobs: { [CHECK_GATEWAYS_JOB]: () => checkAll(context, stopping.signal) },
		stop: () => stopping.abort()
	};
}

/** @returns when to check again */
async function checkAll(context: GatewayHealthContext, signal: AbortSignal): Promise<number> {
	const { database, clock } = context;
	const lastAt = await store.findLastCheck(database.db);
	const now = clock.now();
	const gapMs = lastAt === null ? Infinity : now - lastAt;
	if (lastAt !== null && gapMs >= 0 && gapMs < MIN_GAP_MS) return lastAt + CHECK_MS;
	const check: HealthCheck = {
		now,
		counts: gapMs >= 0 && gapMs <= MAX_GAP_MS,
		reporting: await store.countReporting(database.db, now, {
			reportedAfterMs: REPORTED_AFTER_MS,
			lostAfterMs: LOST_MS
		}),
		signal
	};
	const toProbe: Due[] = [];
	for await (const row of iterateGateways(database.db)) {
		const gateway = openGateway(row, context.secrets);
		if (needsProbe(gateway)) toProbe.push({ row, gateway });
		else await checkGateway(context, row, gateway, check);
		// SQLite answers without giving up the turn: buyers would wait until all gateways are checked.
		await nextTurn();
	}
	await updateRouters(context);
	await probeGateways(context, toProbe, check);
	await updateRouters(context);
	return now + CHECK_MS;
}

interface Due {
	row: GatewayRow;
	gateway: RegisteredGateway;
}

async function probeGateways(
	context: GatewayHealthContext,
	toProbe: readonly Due[],
	check: HealthCheck
): Promise<void> {
	const deadline = performance.now() + PROBES_MS;
	const queue = toProbe.toSorted((one, other) => (one.row.checked_at ?? 0) - (other.row.checked_at ?? 0));
	const owners = queue.length === 0 ? new Map() : await store.findOwnersOfAll(context.database.db);
	const running = new Map<number, number>();
	const load = ({ gateway }: Due) => running.get(owners.get(gateway.routerId) ?? 0) ?? 0;
	const work = async () => {
		while (queue.length > 0 && !check.signal.aborted && performance.now() <= deadline) {
			const next = queue.reduce((one, other) => (load(other) < load(one) ? other : one));
			queue.splice(queue.indexOf(next), 1);
			const owner = owners.get(next.gateway.routerId) ?? 0;
			running.set(owner, load(next) + 1);
			await checkGateway(context, next.row, next.gateway, check);
			running.set(owner, load(next) - 1);
		}
	};
	await Promise.all(Array.from({ length: MAX_CONCURRENT_PROBES }, work));
}

async function updateRouters({ database, log }: GatewayHealthContext): Promise<void> {
	for (const { id, name } of await store.markRoutersOnline(database.db)) {
		log.warn({ router: id, name }, 'router back online: a gateway responds');
	}
	for (const { id, name } of await store.markRoutersOffline(database.db)) {
		log.warn({ router: id, name }, 'router offline: none of its gateways responds');
	}
}
