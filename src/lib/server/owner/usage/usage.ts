import { dateAt } from '#lib/format/calendar.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { ControlMode } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import { adapterOf } from '#lib/server/gateways/registry.ts';
import type { JobHandler } from '#lib/server/jobs/jobs.ts';
import * as store from './store.ts';

/**
 * Usage of routers: devices online, data, and gateway health.
 *
 * Once a minute a job adds each connection's new bytes to its router's day, so that a page sums days instead of
 * connections.
 */
export interface Usage {
	ofRouters(routerIds: readonly number[]): Promise<Map<number, RouterUse>>;
	/** Reads the usage of sessions; sessions without a known connection are missing. */
	ofSessions(sessionIds: readonly number[]): Promise<Map<number, SessionUse>>;
	/** Lists routers on sale that have neither a gateway nor the owner's own password, by id. */
	routersWithoutGateway(limit: number): Promise<{ id: number; name: string }[]>;
	jobs: Record<string, JobHandler>;
}

export interface RouterUse {
	/** Devices online now; null if its gateways do not report them. */
	online: number | null;
	/** Bytes in both directions; null if no gateway counts them. */
	data: { today: number; month: number } | null;
	gateways: GatewayUse[];
	/** Start of the outage of all gateways, during which the router does not sell; null otherwise. */
	unresponsiveSince: number | null;
}

/**
 * `heard`: it responds. `new`: it has never responded. `silent`: it has stopped responding. `unwatched`: it sends nothing
 * itself, so its state is unknown.
 */
export type GatewayState = 'heard' | 'new' | 'silent' | 'unwatched';

export interface GatewayUse {
	name: string;
	title: string;
	state: GatewayState;
	seenAt: number | null;
	unresponsiveSince: number | null;
	/** The gateway's clock minus ours. */
	clockOffsetMs: number | null;
}

export interface SessionUse {
	/** Bytes in both directions. */
	bytes: number;
	isConnected: boolean;
}

export interface UsageParts {
	database: Database;
	clock: Clock;
	config: Pick<Config, 'reportTimezone'>;
	gateways: Gateways;
}

/** Scheduled by migration 0015. */
const BOOK_JOB = 'usage.book';
const BOOK_MS = 60_000;
/** Connections per transaction, and transactions per run; the job repeats at once while some remain. */
const MAX_BOOKED = 200;
const MAX_ROUNDS = 50;
const BOOK_AGAIN_MS = 1_000;

/** Gateways report each minute; after three missed reports a device counts as offline. */
const FRESH_MS = 180_000;

const DAY_MS = 24 * 60 * 60 * 1000;
/** Connections, data by day and grants are deleted after this: no page looks further back than a year. */
const KEEP_MS = 400 * DAY_MS;
/** Released device slots are deleted after this: a pass lasts at most 30 days. */
const KEEP_RELEASED_MS = 32 * DAY_MS;
/** Rows of each kind per run, to keep the transaction short. */
const MAX_FORGOTTEN = 1_000;

export function gatewayState(
	{ unresponsiveSince, seenAt }: RegisteredGateway,
	mode: ControlMode
): GatewayState {
	if (seenAt === null) return mode === 'browser' || mode === 'external' ? 'unwatched' : 'new';
	return unresponsiveSince === null ? 'heard' : 'silent';
}

export function createUsage({ database, clock, config, gateways }: UsageParts): Usage {
	const { db } = database;
	const dayOf = (at: number) => dateAt(at, config.reportTimezone);

	/** Books one batch. Returns the number of connections read. */
	const bookSome = (): Promise<number> =>
		database.transact(async (trx) => {
			const rows = await store.unbooked(trx, MAX_BOOKED);
			const sums = new Map<string, store.Data & { routerId: number; day: string }>();
			for (const row of rows) {
				if (!(await store.noteBooked(trx, row))) continue;
				const day = dayOf(row.seen_at);
				const key = `${row.router_id} ${day}`;
				const sum = sums.get(key) ?? { routerId: row.router_id, day, bytesIn: 0, bytesOut: 0 };
				sum.bytesIn += row.bytes_in - row.booked_in;
				sum.bytesOut += row.bytes_out - row.booked_out;
				sums.set(key, sum);
			}
			for (const sum of sums.values()) await store.book(trx, sum, sum);
			return rows.length;
		});

	async function bookAll(): Promise<number> {
		for (let round = 0; round < MAX_ROUNDS; round += 1) {
			if ((await bookSome()) < MAX_BOOKED) {
				const now = clock.now();
				const at = now - KEEP_MS;
				const before = { at, day: dayOf(at), releasedAt: now - KEEP_RELEASED_MS };
				await store.forget(db, before, MAX_FORGOTTEN);
				return now + BOOK_MS;
			}
		}
		return clock.now() + BOOK_AGAIN_MS;
	}

	/** Counts devices online at each gateway that reports them. */
	async function onlineAt(registered: readonly RegisteredGateway[]): Promise<Map<number, number>> {
		const ids = registered.map(({ id }) => id);
		const now = clock.now();
		const [devices, guests] = await Promise.all([
			store.freshDevices(db, ids, now - FRESH_MS),
			store.guestsLetIn(db, ids, now)
		]);
		return new Map(
			registered.flatMap((gateway): [number, number][] => {
				const { id, onlineCount, unresponsiveSince, seenAt } = gateway;
				const connected = devices.get(id);
				if (connected !== undefined) return [[id, connected]];
				const mode = adapterOf(gateway.kind).controlMode(gateway);
				const isKnown = unresponsiveSince === null && seenAt !== null;
				if (!isKnown || mode === 'browser' || mode === 'external') return [];
				return [[id, mode === 'radius' ? 0 : (onlineCount ?? guests.get(id) ?? 0)]];
			})
		);
	}

	return {
		async ofRouters(routerIds) {
			const registered = await gateways.ofRouters(routerIds);
			if (registered.length === 0) return new Map();
			const today = dayOf(clock.now());
			const [online, data] = await Promise.all([
				onlineAt(registered),
				store.dataOfRouters(db, routerIds, { first: `${today.slice(0, 7)}-01`, today })
			]);
			return new Map(
				routerIds.map((routerId) => {
					const own = registered.filter((gateway) => gateway.routerId === routerId);
					const counts = own.flatMap(({ id }) => online.get(id) ?? []);
					const sums = data.find(({ router_id }) => router_id === routerId);
					const silences = own.flatMap(({ unresponsiveSince }) => unresponsiveSince ?? []);
					const isUnresponsive = own.length > 0 && silences.length === own.length;
					const isCounted = own.some((gateway) => adapterOf(gateway.kind).controlMode(gateway) === 'radius');
					return [
						routerId,
						{
							online: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null,
							data: sums || isCounted ? { today: sums?.today ?? 0, month: sums?.month ?? 0 } : null,
							unresponsiveSince: isUnresponsive ? Math.max(...silences) : null,
							gateways: own.map((gateway) => ({
								name: gateway.name,
								title: gateway.title,
								state: gatewayState(gateway, adapterOf(gateway.kind).controlMode(gateway)),
								seenAt: gateway.seenAt,
								unresponsiveSince: gateway.unresponsiveSince,
								clockOffsetMs: gateway.clockOffsetMs
							}))
						}
					];
				})
			);
		},
		async ofSessions(sessionIds) {
			if (sessionIds.length === 0) return new Map();
			const rows = await store.dataOfSessions(db, sessionIds, clock.now() - FRESH_MS);
			return new Map(
				rows.map(({ session_id, bytes, fresh }) => [session_id, { bytes, isConnected: fresh > 0 }])
			);
		},
		routersWithoutGateway: (limit) => store.routersWithoutGateway(db, limit),
		jobs: { [BOOK_JOB]: bookAll }
	};
}
