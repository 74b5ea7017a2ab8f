import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Base } from '#lib/server/base.ts';
import { type GatewayReading, type GatewayStatus, type GatewayTransport } from './gateway.ts';
import {
	type GatewayRow,
	type Gateways,
	type RegisteredGateway,
	findAdapter,
	findGatewayRow,
	formatUnreadable,
	iterateGateways,
	openGateway,
	recordStatus
} from './gateways.ts';
import { MAX_CHECK_GAP_MS, forgetSilence, noteOutages } from './outages.ts';
import { sql } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { first, isChanged } from '#lib/server/db/queries.ts';
import { Unavailable } from '#lib/server/platform/errors.ts';
import { describeUnusable, limitTransport } from './vendor-api.ts';

interface GatewayHealthContext extends Base {
	gateways: Gateways;
	/** Of access/, which knows the open connections. */
	probeRadius(gateway: RegisteredGateway): Promise<'responding' | 'unresponsive' | 'unknown'>;
	transport: GatewayTransport;
	/** Of access/, which knows what the gateway should let in. `at`: when the reading began. */
	compareReading(gateway: RegisteredGateway, reading: GatewayReading, at: number): Promise<void>;
}

/** Scheduled by the first migration. */
const CHECK_GATEWAYS_JOB = 'gateways.check';

const CHECK_MS = 60_000;
/** Skips an earlier check, for example after a restart. */
const MIN_GAP_MS = 45_000;
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
 * Signs of life: `push` gateways answer a status request, `poll` gateways poll, `fetch` gateways report at least every
 * 30 seconds (one missed check is enough), and `radius` gateways report on open connections. `browser` and `external`
 * gateways are not monitored, nor are `radius` gateways without open connections.
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
	const lastAt = await findLastCheck(database.db);
	const now = clock.now();
	const gapMs = lastAt === null ? Infinity : now - lastAt;
	if (lastAt !== null && gapMs >= 0 && gapMs < MIN_GAP_MS) return lastAt + CHECK_MS;
	const check: HealthCheck = {
		now,
		counts: gapMs >= 0 && gapMs <= MAX_CHECK_GAP_MS,
		reporting: await countReporting(database.db, now),
		signal
	};
	if (!check.counts) await forgetSilence(database.db);
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
	const owners = queue.length === 0 ? new Map() : await findOwnersOfAll(context.database.db);
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

async function updateRouters({ clock, database, log }: GatewayHealthContext): Promise<void> {
	const { online, offline } = await database.transact(async (trx) => {
		const marked = { online: await markRoutersOnline(trx), offline: await markRoutersOffline(trx) };
		await noteOutages(trx, clock.now());
		return marked;
	});
	for (const { id, name } of online) log.warn({ router: id, name }, 'router back online: a gateway responds');
	for (const { id, name } of offline)
		log.warn({ router: id, name }, 'router offline: none of its gateways responds');
}

/** About three minutes. Counts checks instead of time, because a suspended process receives nothing. */
const UNRESPONSIVE_CHECKS = 3;

interface HealthCheck {
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
const needsProbe = ({ unreadable, mode, unresponsiveSince }: RegisteredGateway): boolean =>
	unreadable.length === 0 && (mode === 'push' || (mode === 'radius' && unresponsiveSince !== null));

async function checkGateway(
	context: GatewayHealthContext,
	row: GatewayRow,
	gateway: RegisteredGateway,
	check: HealthCheck
): Promise<void> {
	const { database, log } = context;
	const isProbed = needsProbe(gateway);
	const answer = isProbed ? await probeGateway(context, gateway, check.signal) : 'unknown';
	if (check.signal.aborted) return;
	const seenAt = isProbed
		? ((await findGatewayRow(database.db, 'id', row.id))?.seen_at ?? null)
		: row.seen_at;
	const verdict = judge(row, gateway, check, { answer, seenAt });
	const isSaved = await saveCheck(database.unsynced, row.id, { now: check.now, seenAt, ...verdict });
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
	const { gateways, probeRadius } = context;
	if (gateway.mode === 'push') {
		return (await requestStatus(context, gateway, signal)) ? 'responding' : 'unresponsive';
	}
	const answer = await probeRadius(gateway);
	if (answer === 'responding') await recordStatus(gateways, gateway, { answered: true });
	return answer;
}

/** @returns whether the gateway responded as one that takes our commands. Any web server answers something. */
async function requestStatus(
	context: GatewayHealthContext,
	gateway: RegisteredGateway,
	stopping: AbortSignal
): Promise<boolean> {
	const { clock, gateways, log, transport } = context;
	const at = clock.now();
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
	const { clockOffsetMs, online, reading } = status;
	await recordStatus(gateways, gateway, {
		seen: true,
		trouble: problems || null,
		online,
		...(clockOffsetMs === null ? {} : { clockOffsetMs })
	});
	if (reading) await context.compareReading(gateway, reading, at);
	return true;
}

interface Verdict {
	missedChecks: number;
	unresponsiveSince: number | null;
	/** The first moment without an answer. */
	silentSince: number | null;
}

/** A gateway is alive after a new sign of life, and misses a check that expected one. */
function judge(
	row: GatewayRow,
	{ mode, unreadable, unresponsiveSince }: RegisteredGateway,
	{ now, counts, reporting }: HealthCheck,
	{ answer, seenAt }: { answer: Answer; seenAt: number | null }
): Verdict {
	// Its secrets are ours to mend: it may well let buyers in.
	if (unreadable.length > 0)
		return { missedChecks: UNRESPONSIVE_CHECKS, unresponsiveSince, silentSince: null };
	const isAlive = answer === 'responding' || seenAt !== row.checked_seen_at;
	const isExpected =
		mode === 'radius'
			? answer === 'unresponsive' || (reporting.get(row.id) ?? 0) > 0
			: mode === 'push' || mode === 'poll' || (mode === 'fetch' && now - (seenAt ?? 0) >= CHECK_MS);
	if (isAlive || !isExpected) return { missedChecks: 0, unresponsiveSince: null, silentSince: null };
	const before = { missedChecks: row.missed_checks, unresponsiveSince: row.unresponsive_since };
	if (!counts) return { ...before, silentSince: null };
	// It answered before the last check, and not before a pause.
	const isRecent = seenAt !== null && seenAt <= now && seenAt >= (row.checked_at ?? now) - MAX_CHECK_GAP_MS;
	const silentSince = row.silent_since ?? (isRecent ? seenAt : now);
	if (before.unresponsiveSince !== null) return { ...before, silentSince };
	const missedChecks = before.missedChecks + 1;
	const isUnresponsive = missedChecks >= (mode === 'fetch' ? 1 : UNRESPONSIVE_CHECKS);
	return {
		missedChecks,
		unresponsiveSince: isUnresponsive ? Math.min(seenAt ?? now, now) : null,
		silentSince
	};
}

/** For all calls of a status together. */
const STATUS_TIMEOUT_MS = 12_000;

/** Calls a gateway. Returns null for one that Airtill does not call. @throws the reason of `stopping` */
export async function fetchGatewayStatus(
	gateway: RegisteredGateway,
	transport: GatewayTransport,
	stopping?: AbortSignal
): Promise<GatewayStatus | null> {
	const { controller } = findAdapter(gateway.kind);
	if (gateway.mode !== 'push' || controller === null) return null;
	if (gateway.unreadable.length > 0) return describeUnusable(formatUnreadable(gateway));
	stopping?.throwIfAborted();
	const timeout = new AbortController();
	const timer = setTimeout(() => timeout.abort(), STATUS_TIMEOUT_MS);
	const limit = AbortSignal.any([timeout.signal, ...(stopping ? [stopping] : [])]);
	const late = new Promise<never>((_resolve, reject) => {
		limit.addEventListener('abort', () => reject(limit.reason), { once: true });
	});
	try {
		return await Promise.race([controller.status(gateway, limitTransport(transport, limit)), late]);
	} catch (error) {
		if (timeout.signal.aborted) {
			return describeUnusable(`The gateway did not respond within ${STATUS_TIMEOUT_MS / 1000} seconds.`);
		}
		if (error instanceof Unavailable) return describeUnusable(error.message);
		throw error;
	} finally {
		clearTimeout(timer);
		// Node keeps a signal that waits for `stopping` until it aborts.
		timeout.abort();
	}
}

async function findOwnersOfAll(queries: Queries): Promise<Map<number, number>> {
	const rows = await queries
		.selectFrom('routers')
		.select(['id', 'owner_account_id'])
		.where('id', 'in', (gateways) => gateways.selectFrom('gateways').select('router_id'))
		.execute();
	return new Map(rows.map(({ id, owner_account_id: owner }) => [id, owner]));
}

const findLastCheck = async (queries: Queries): Promise<number | null> =>
	(await first(queries.selectFrom('gateways').select(({ fn }) => fn.max('checked_at').as('at'))))?.at ?? null;

/** Counts, by gateway, the open connections that should send interim reports. */
async function countReporting(queries: Queries, now: number): Promise<Map<number, number>> {
	const { rows } = await sql<{ gateway_id: number; reporting: number }>`
		select gateway_id, count(*) as reporting from connections
		where stopped_at is null and enforced_until > ${now} and seen_at >= started_at + ${REPORTED_AFTER_MS}
			and seen_at > ${now - LOST_MS}
		group by gateway_id`.execute(queries);
	return new Map(rows.map(({ gateway_id, reporting }) => [gateway_id, reporting]));
}

/** Saves a check, unless the gateway responded meanwhile. @returns whether it was saved */
const saveCheck = (
	queries: Queries,
	id: number,
	checked: Verdict & { now: number; seenAt: number | null }
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('gateways')
			.set({
				checked_at: checked.now,
				checked_seen_at: checked.seenAt,
				missed_checks: checked.missedChecks,
				unresponsive_since: checked.unresponsiveSince,
				silent_since: checked.silentSince
			})
			.where('id', '=', id)
			.where('seen_at', checked.seenAt === null ? 'is' : '=', checked.seenAt)
	);

const UNRESPONSIVE_ROUTERS = sql`select router_id from gateways group by router_id
	having count(*) = count(unresponsive_since)`;

async function markRoutersOffline(queries: Queries): Promise<{ id: number; name: string }[]> {
	const { rows } = await sql<{ id: number; name: string }>`
		update routers set unresponsive_since =
			(select max(gateways.unresponsive_since) from gateways where gateways.router_id = routers.id)
		where unresponsive_since is null and id in (${UNRESPONSIVE_ROUTERS}) returning id, name`.execute(queries);
	return rows;
}

async function markRoutersOnline(queries: Queries): Promise<{ id: number; name: string }[]> {
	const { rows } = await sql<{ id: number; name: string }>`
		update routers set unresponsive_since = null
		where unresponsive_since is not null and id not in (${UNRESPONSIVE_ROUTERS}) returning id, name`.execute(
		queries
	);
	return rows;
}
