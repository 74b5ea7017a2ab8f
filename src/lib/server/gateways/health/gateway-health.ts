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
/** An earlier check, for example after a restart, is skipped. */
const MIN_GAP_MS = 45_000;
/** After a longer gap a check does not count, because nothing was received in between. */
const MAX_GAP_MS = 150_000;
/** Gateways of one check; those that wait longest come first. */
const MAX_WATCHED = 1_000;
const MAX_CONCURRENT_PROBES = 8;
/** After this the check starts no more probes; the next check begins with the others. */
const ROUND_MS = 40_000;
/** A connection reported on so long after its start sends interim reports (Acct-Interim-Interval). */
const REPORTED_AFTER_MS = 30_000;
/** Fifteen times the interval of interim reports. */
const LOST_MS = 15 * 60_000;

/**
 * Gateway health: finds unresponsive gateways, once a minute.
 *
 * Purpose: a router none of whose gateways responds is `offline` and sells nothing, because buyers would pay and stay
 * offline.
 *
 * Signs of life by control mode: `push` gateways are asked for their status; `poll` gateways must have polled; `radius`
 * gateways must have reported on their open connections. `browser` and `external` gateways are not watched, nor are
 * `radius` gateways without open connections, because they have nothing to report.
 *
 * Recovery of `radius` gateways: one that is unresponsive is probed where it accepts Disconnect-Requests. Where it does
 * not, connections without a report for LOST_MS count as ended, and the router sells again. Otherwise a lost Stop, or a
 * power cut after which nobody came back, would keep the router offline for ever.
 *
 * One job in one process at a time checks all gateways.
 */
export function createGatewayHealth(context: GatewayHealthContext) {
	const stopping = new AbortController();
	return {
		jobs: { [CHECK_JOB]: () => checkAll(context, stopping.signal) },
		/** Cancels the checks that wait for gateways. */
		stop: () => stopping.abort()
	};
}

/** Checks all gateways, unless that was done less than MIN_GAP_MS ago. @returns when to check again */
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
	const watched = await watchedGateways(context);
	const toProbe = watched.filter(({ gateway }) => needsProbe(gateway));
	for (const one of watched.filter(({ gateway }) => !needsProbe(gateway))) {
		await checkGateway(context, one.row, one.gateway, round);
	}
	await updateRouters(context);
	await probe(context, toProbe, round);
	await updateRouters(context);
	return now + CHECK_MS;
}

interface Watched {
	row: store.WatchRow;
	gateway: RegisteredGateway;
}

async function watchedGateways({ database, gateways }: GatewayHealthContext): Promise<Watched[]> {
	const registered = new Map((await gateways.list()).map((gateway) => [gateway.id, gateway]));
	return (await store.watched(database.db, MAX_WATCHED)).flatMap((row) => {
		const gateway = registered.get(row.id);
		return gateway ? [{ row, gateway }] : [];
	});
}

async function probe(context: GatewayHealthContext, queue: Watched[], round: Round): Promise<void> {
	const deadline = performance.now() + ROUND_MS;
	const work = async () => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			if (round.signal.aborted || performance.now() > deadline) return;
			await checkGateway(context, next.row, next.gateway, round);
		}
	};
	await Promise.all(Array.from({ length: MAX_CONCURRENT_PROBES }, work));
}

/** Takes routers offline, and puts them on sale again, after a change at their gateways. */
async function updateRouters({ database, log }: GatewayHealthContext): Promise<void> {
	for (const { id, name } of await store.markRoutersOnline(database.db)) {
		log.warn({ router: id, name }, 'router back online: a gateway responds');
	}
	for (const { id, name } of await store.markRoutersOffline(database.db)) {
		log.warn({ router: id, name }, 'router offline: none of its gateways responds');
	}
}
