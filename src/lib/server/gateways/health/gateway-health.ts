import type { Access } from '#lib/server/access/access.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Log } from '#lib/server/platform/log.ts';
import type { Reach } from '../gateway.ts';
import type { Gateways, RegisteredGateway } from '../gateways.ts';
import { checkGateway, needsProbe, type Round } from './check-gateway.ts';
import * as store from './store.ts';

export interface GatewayHealthContext {
	database: Database;
	clock: Clock;
	log: Log;
	gateways: Gateways;
	access: Pick<Access, 'lifeOf'>;
	reach: Reach;
}

/** Created by migration 0015. */
const CHECK_JOB = 'gateways.check';

const CHECK_MS = 60_000;
/** Skips an earlier check, for example after a restart. */
const MIN_GAP_MS = 45_000;
/** After a longer gap a check does not count, because nothing was received meanwhile. */
const MAX_GAP_MS = 150_000;
/** Per check, the least recently checked first. */
const MAX_CHECKED = 1_000;
const MAX_CONCURRENT_PROBES = 8;
/** The check starts no probes after this time. The next check begins with the others. */
const ROUND_MS = 40_000;
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
 * Concurrency: one job in one process at a time checks all gateways.
 */
export function createGatewayHealth(context: GatewayHealthContext) {
	const stopping = new AbortController();
	return {
		jobs: { [CHECK_JOB]: () => checkAll(context, stopping.signal) },
		stop: () => stopping.abort()
	};
}

/** @returns when to check again */
async function checkAll(context: GatewayHealthContext, signal: AbortSignal): Promise<number> {
	const { database, clock } = context;
	const lastAt = await store.lastCheckAt(database.db);
	const now = clock.now();
	const gapMs = lastAt === null ? Infinity : now - lastAt;
	if (lastAt !== null && gapMs >= 0 && gapMs < MIN_GAP_MS) return lastAt + CHECK_MS;
	const round: Round = {
		now,
		counts: gapMs >= 0 && gapMs <= MAX_GAP_MS,
		reporting: await store.reportingConnections(database.db, now, {
			reportedAfterMs: REPORTED_AFTER_MS,
			lostAfterMs: LOST_MS
		}),
		signal
	};
	const due = await gatewaysToCheck(context);
	const toProbe = due.filter(({ gateway }) => needsProbe(gateway));
	for (const one of due.filter(({ gateway }) => !needsProbe(gateway))) {
		await checkGateway(context, one.row, one.gateway, round);
	}
	await updateRouters(context);
	await probe(context, toProbe, round);
	await updateRouters(context);
	return now + CHECK_MS;
}

interface Due {
	row: store.CheckRow;
	gateway: RegisteredGateway;
}

async function gatewaysToCheck({ database, gateways }: GatewayHealthContext): Promise<Due[]> {
	const registered = new Map((await gateways.list()).map((gateway) => [gateway.id, gateway]));
	return (await store.leastRecentlyChecked(database.db, MAX_CHECKED)).flatMap((row) => {
		const gateway = registered.get(row.id);
		return gateway ? [{ row, gateway }] : [];
	});
}

async function probe(context: GatewayHealthContext, queue: Due[], round: Round): Promise<void> {
	const deadline = performance.now() + ROUND_MS;
	const work = async () => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			if (round.signal.aborted || performance.now() > deadline) return;
			await checkGateway(context, next.row, next.gateway, round);
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
