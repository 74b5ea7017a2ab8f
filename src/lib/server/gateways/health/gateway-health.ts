import { setTimeout as sleep } from 'node:timers/promises';
import type { Access } from '#lib/server/access/access.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { GatewayStatus, Reach } from '../gateway.ts';
import type { Gateways, RegisteredGateway } from '../gateways.ts';
import { adapterOf } from '../registry.ts';
import type { JobHandler } from '#lib/server/jobs/jobs.ts';
import type { Log } from '#lib/server/platform/log.ts';
import * as store from './store.ts';
import { CHECK_MS, judge, MAX_GAP_MS, MIN_GAP_MS, QUIET_CHECKS } from './verdict.ts';

/**
 * Finds gateways that went silent, once a minute: gateways that we tell are asked how they are; those that come for
 * their guests, or report connections, must have done so. A router of which no gateway is heard is `offline` and not
 * sold until one is; so too one that was never heard of: what is bought there would let nobody in. Not judged is one that
 * has nothing to say: that asks RADIUS, and at which no connection is known to go on, or that proves itself to buyers'
 * browsers only.
 *
 * A gateway that reports connections is silent for no longer than its connections are believed to go on. A Stop that was
 * lost, or a night without power after which nobody came back, looks like a gateway that is gone, and would keep it off
 * sale until somebody signs in who has a pass: a router that sells no passes may wait for that for ever. So one that is
 * silent is asked, where we can reach it: its answer puts it on sale, and no answer from one that has answered before keeps it
 * off. Where it cannot be asked, connections that nobody reported on for LOST_MS are as good as over, and it is sold
 * again. The price of that: a router without such a way in that is really gone is off sale for those minutes only.
 *
 * One job does it, in one process at a time, beside those of buyers: it holds one of their places, asks few gateways at
 * a time, and each for a bounded time.
 */
export interface GatewayHealth {
	jobs: Record<string, JobHandler>;
	/** Waits for no gateway any more. */
	stop(): void;
}

export interface GatewayHealthParts {
	database: Database;
	clock: Clock;
	log: Log;
	gateways: Gateways;
	access: Pick<Access, 'lifeOf'>;
	reach: Reach;
}

/** Always on the list, see migration 0015. */
const CHECK_JOB = 'gateways.check';

/** More are not looked at in one check; those that wait longest come first. */
const MAX_WATCHED = 1_000;
const MAX_ASKED_AT_ONCE = 8;
/** One gateway's time to say how it is. */
const ASK_MS = 12_000;
/** After this nobody else is asked; the next check begins with those. */
const ROUND_MS = 40_000;
/** A connection that was reported on so long after its start has reports in between (Acct-Interim-Interval). */
const REPORTED_AFTER_MS = 30_000;
/** A connection that nobody reported on for so long, fifteen times what was asked for, is as good as over. */
const LOST_MS = 15 * 60_000;

/** What is the same for all gateways of a check. */
interface Round {
	now: number;
	/** Somebody listened since the check before. */
	counts: boolean;
	/** By gateway: connections that it should report on. */
	reporting: ReadonlyMap<number, number>;
}

/** Silent, and one that reports connections: asked whether it is there. */
const mayBeLost = (gateway: RegisteredGateway) =>
	gateway.unresponsiveSince !== null && adapterOf(gateway.kind).controlMode(gateway) === 'radius';

export function createGatewayHealth({
	database,
	clock,
	log,
	gateways,
	access,
	reach
}: GatewayHealthParts): GatewayHealth {
	const { db } = database;
	const stopping = new AbortController();

	/** @returns null when it did not answer in time, or we stop */
	async function ask(gateway: RegisteredGateway): Promise<GatewayStatus | null> {
		const { controller } = adapterOf(gateway.kind);
		if (!controller) return null;
		const answered = new AbortController();
		const signal = AbortSignal.any([answered.signal, stopping.signal]);
		try {
			const limit = sleep(ASK_MS, null, { signal }).catch(() => null);
			return await Promise.race([controller.status(gateway, reach), limit]);
		} catch (error) {
			log.error({ err: error, gateway: gateway.name }, 'a gateway adapter failed');
			return null;
		} finally {
			answered.abort();
		}
	}

	/** Asks a gateway and notes what it says. @returns whether it answered */
	async function isReached(gateway: RegisteredGateway): Promise<boolean> {
		const status = await ask(gateway);
		if (stopping.signal.aborted) return false;
		const problems = status?.problems.join(' ') ?? '';
		if (!status?.reachable) {
			const trouble = problems || `It did not answer within ${ASK_MS / 1000} seconds.`;
			await gateways.recordStatus(gateway.id, { trouble });
			return false;
		}
		const { clockOffsetMs, online } = status;
		await gateways.recordStatus(gateway.id, {
			seen: true,
			trouble: problems || null,
			online,
			...(clockOffsetMs === null ? {} : { clockOffsetMs })
		});
		return true;
	}

	async function checkOne(
		row: store.WatchRow,
		gateway: RegisteredGateway,
		{ now, counts, reporting }: Round
	): Promise<void> {
		const mode = adapterOf(gateway.kind).controlMode(gateway);
		const isReachable = mode === 'push' && (await isReached(gateway));
		const life = mayBeLost(gateway) ? await access.lifeOf(gateway) : 'unknown';
		if (life === 'answers') await gateways.recordStatus(gateway.id, { seen: true });
		if (stopping.signal.aborted) return;
		const isAsked = mode === 'push' || life !== 'unknown';
		const seenAt = isAsked ? await store.seenAt(db, row.id) : row.seen_at;
		const isWatched = mode === 'push' || mode === 'poll' || mode === 'radius';
		const before = { missedChecks: row.missed_checks, unresponsiveSince: row.unresponsive_since };
		const after = judge(before, {
			// At any other moment, not only a later one: the clock may have been set back.
			isHeard: isReachable || life === 'answers' || !isWatched || seenAt !== row.checked_seen_at,
			isExpected: mode !== 'radius' || life === 'silent' || (reporting.get(row.id) ?? 0) > 0,
			counts,
			seenAt,
			now
		});
		// Not where it was heard of in this moment.
		if (!(await store.noteCheck(db, row.id, { now, seenAt, ...after }))) return;
		const facts = { gateway: row.name, router: row.router_id };
		if (after.unresponsiveSince !== null && row.unresponsive_since === null) {
			log.warn({ ...facts, since: new Date(after.unresponsiveSince).toISOString() }, 'a gateway went silent');
		}
		if (after.unresponsiveSince === null && row.missed_checks >= QUIET_CHECKS) {
			log.warn(facts, 'a gateway is heard of again');
		}
	}

	async function settleRouters(): Promise<void> {
		for (const { id, name } of await store.markRoutersOnline(db)) {
			log.warn({ router: id, name }, 'a router is sold again: a gateway of it is heard');
		}
		for (const { id, name } of await store.markRoutersOffline(db)) {
			log.warn({ router: id, name }, 'a router is not sold: none of its gateways is heard');
		}
	}

	async function check(): Promise<number> {
		const lastAt = await store.lastCheckAt(db);
		const now = clock.now();
		const gapMs = lastAt === null ? Infinity : now - lastAt;
		if (lastAt !== null && gapMs >= 0 && gapMs < MIN_GAP_MS) return lastAt + CHECK_MS;
		const counts = gapMs >= 0 && gapMs <= MAX_GAP_MS;
		const reporting = await store.reportingConnections(db, now, {
			reportedAfterMs: REPORTED_AFTER_MS,
			lostAfterMs: LOST_MS
		});
		const round: Round = { now, counts, reporting };
		const deadline = performance.now() + ROUND_MS;
		const registered = new Map((await gateways.list()).map((gateway) => [gateway.id, gateway]));
		const rows = (await store.watched(db, MAX_WATCHED)).flatMap((row) => {
			const gateway = registered.get(row.id);
			return gateway ? [{ row, gateway }] : [];
		});
		const isAsked = ({ gateway }: { gateway: RegisteredGateway }) =>
			adapterOf(gateway.kind).controlMode(gateway) === 'push' || mayBeLost(gateway);
		for (const { row, gateway } of rows.filter((one) => !isAsked(one))) {
			await checkOne(row, gateway, round);
		}
		await settleRouters();
		const asked = rows.filter(isAsked);
		const work = async () => {
			for (let one = asked.shift(); one; one = asked.shift()) {
				if (stopping.signal.aborted || performance.now() > deadline) return;
				await checkOne(one.row, one.gateway, round);
			}
		};
		await Promise.all(Array.from({ length: MAX_ASKED_AT_ONCE }, work));
		await settleRouters();
		return now + CHECK_MS;
	}

	return { jobs: { [CHECK_JOB]: check }, stop: () => stopping.abort() };
}
