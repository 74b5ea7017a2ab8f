import { dateAt } from '#lib/domain/time/calendar.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { Config } from '#lib/server/config/config.ts';
import { type Fenced, fenceHandlers } from '#lib/server/jobs/jobs.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { ControlMode } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import * as store from './store.ts';

export type { SessionUse } from './store.ts';

interface UsageContext {
	database: Database;
	clock: Clock;
	config: Pick<Config, 'reportTimezone'>;
	gateways: Gateways;
}

/** Scheduled by migration 0015. */
const COUNT_DATA_JOB = 'usage.book';
const BOOK_MS = 60_000;
/** Connections per transaction and transactions per run. The job repeats at once while some remain. */
const MAX_BOOKED = 200;
const MAX_ROUNDS = 50;
const BOOK_AGAIN_MS = 1_000;

/** Gateways report each minute. After three missed reports a device counts as offline. */
const FRESH_MS = 180_000;

export type RouterUse = ReturnType<typeof routerUse>;

/** The fields of a gateway that pages may show, without its secrets. */
type GatewayUse = Pick<
	RegisteredGateway,
	'name' | 'title' | 'mode' | 'seenAt' | 'unresponsiveSince' | 'clockOffsetMs'
>;

/** A job adds each connection's new bytes to its router's day, so that pages sum days, not connections. */
export const createUsage = (context: UsageContext) => ({
	ofRouters: (routerIds: readonly number[]) => ofRouters(context, routerIds),
	async ofSessions(sessionIds: readonly number[]): Promise<Map<number, store.SessionUse>> {
		if (sessionIds.length === 0) return new Map();
		const rows = await store.useOfSessions(context.database.db, sessionIds, context.clock.now() - FRESH_MS);
		return new Map(rows.map((row) => [row.session_id, row]));
	},
	jobs: fenceHandlers(context, { [COUNT_DATA_JOB]: bookAll })
});

const isUnmonitored = (mode: ControlMode) => mode === 'browser' || mode === 'external';

/** `new` has never responded. `unmonitored` sends nothing itself, so its state is unknown. */
export function gatewayState(
	gateway: Pick<GatewayUse, 'mode' | 'seenAt' | 'unresponsiveSince'>
): 'responding' | 'new' | 'unresponsive' | 'unmonitored' {
	if (gateway.seenAt === null) return isUnmonitored(gateway.mode) ? 'unmonitored' : 'new';
	return gateway.unresponsiveSince === null ? 'responding' : 'unresponsive';
}

async function bookAll(context: Fenced<UsageContext>): Promise<number> {
	const { clock } = context;
	for (let round = 0; round < MAX_ROUNDS; round += 1) {
		if ((await bookSome(context)) < MAX_BOOKED) return clock.now() + BOOK_MS;
	}
	return clock.now() + BOOK_AGAIN_MS;
}

const dayOf = ({ config }: Pick<UsageContext, 'config'>, at: number) => dateAt(at, config.reportTimezone);

/** Returns the number of connections read. */
const bookSome = (context: Fenced<UsageContext>): Promise<number> =>
	context.database.transact(async (trx) => {
		const rows = await store.unbooked(trx, MAX_BOOKED);
		const sums = new Map<string, Parameters<typeof store.book>[1]>();
		for (const row of rows) {
			if (!(await store.noteBooked(trx, row))) continue;
			const day = dayOf(context, row.seen_at);
			const key = `${row.router_id} ${day}`;
			const sum = sums.get(key) ?? { router_id: row.router_id, day, bytes_in: 0, bytes_out: 0 };
			sum.bytes_in += row.bytes_in - row.booked_in;
			sum.bytes_out += row.bytes_out - row.booked_out;
			sums.set(key, sum);
		}
		for (const sum of sums.values()) await store.book(trx, sum);
		return rows.length;
	});

async function ofRouters(context: UsageContext, routerIds: readonly number[]) {
	const registered = await context.gateways.ofRouters(routerIds);
	if (registered.length === 0) return new Map<number, RouterUse>();
	const today = dayOf(context, context.clock.now());
	const [online, data] = await Promise.all([
		onlineAt(context, registered),
		store.dataOfRouters(context.database.db, routerIds, { first: `${today.slice(0, 7)}-01`, today })
	]);
	return new Map(
		routerIds.map((routerId) => {
			const own = registered.filter((gateway) => gateway.routerId === routerId);
			const sums = data.find(({ router_id }) => router_id === routerId);
			return [routerId, routerUse(own, online, sums)];
		})
	);
}

function routerUse(
	gateways: RegisteredGateway[],
	online: ReadonlyMap<number, number>,
	sums: { today: number; month: number } | undefined
) {
	const counts = gateways.flatMap(({ id }) => online.get(id) ?? []);
	const isCounted = gateways.some((gateway) => gateway.mode === 'radius');
	return {
		/** null if the gateways do not report devices. */
		online: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null,
		/** Bytes in both directions; null if no gateway counts them. */
		data: sums ?? (isCounted ? { today: 0, month: 0 } : null),
		gateways: gateways as readonly GatewayUse[]
	};
}

async function onlineAt({ database: { db }, clock }: UsageContext, registered: readonly RegisteredGateway[]) {
	const ids = registered.map(({ id }) => id);
	const now = clock.now();
	const [connected, granted] = await Promise.all([
		store.connectedDevices(db, ids, now - FRESH_MS),
		store.grantedDevices(db, ids, now)
	]);
	return new Map(
		registered.flatMap((gateway): [number, number][] => {
			const { id, mode, onlineCount, unresponsiveSince, seenAt } = gateway;
			const devices = connected.get(id);
			if (devices !== undefined) return [[id, devices]];
			if (unresponsiveSince !== null || seenAt === null || isUnmonitored(mode)) return [];
			return [[id, mode === 'radius' ? 0 : (onlineCount ?? granted.get(id) ?? 0)]];
		})
	);
}
