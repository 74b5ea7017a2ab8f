import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database, Queries } from '#lib/server/db/database.ts';
import type { ControlMode } from '#lib/server/gateways/gateway.ts';
import {
	type Gateways,
	type RegisteredGateway,
	findGatewaysOfRouters
} from '#lib/server/gateways/gateways.ts';
import { type RawBuilder, sql } from 'kysely';

interface UsageContext {
	database: Database;
	clock: Clock;
	gateways: Gateways;
}

/** Gateways report each minute. After three missed reports a device counts as offline. */
const FRESH_MS = 180_000;

export type RouterUse = ReturnType<typeof sumRouterUse>;

/** The fields of a gateway that pages may show, without its secrets. */
type GatewayUse = Pick<
	RegisteredGateway,
	'name' | 'title' | 'mode' | 'seenAt' | 'unresponsiveSince' | 'clockOffsetMs'
>;

const isUnmonitored = (mode: ControlMode) => mode === 'browser' || mode === 'external';

/** `new` has never responded. `unmonitored` sends nothing itself, so its state is unknown. */
export function classifyGateway(
	gateway: Pick<GatewayUse, 'mode' | 'seenAt' | 'unresponsiveSince'>
): 'responding' | 'new' | 'unresponsive' | 'unmonitored' {
	if (gateway.seenAt === null) return isUnmonitored(gateway.mode) ? 'unmonitored' : 'new';
	return gateway.unresponsiveSince === null ? 'responding' : 'unresponsive';
}

export async function findRouterUses(context: UsageContext, routerIds: readonly number[]) {
	const registered = await findGatewaysOfRouters(context.gateways, routerIds);
	if (registered.length === 0) return new Map<number, RouterUse>();
	const online = await countOnline(context, registered);
	return new Map(
		routerIds.map((routerId) => {
			const own = registered.filter((gateway) => gateway.routerId === routerId);
			return [routerId, sumRouterUse(own, online)];
		})
	);
}

function sumRouterUse(gateways: RegisteredGateway[], online: ReadonlyMap<number, number>) {
	const counts = gateways.flatMap(({ id }) => online.get(id) ?? []);
	return {
		/** null if the gateways do not report devices. */
		online: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null,
		gateways: gateways as readonly GatewayUse[]
	};
}

async function countOnline(
	{ database: { db }, clock }: UsageContext,
	registered: readonly RegisteredGateway[]
) {
	const ids = sql.join(registered.map(({ id }) => id));
	const now = clock.now();
	const [connected, allowed] = await Promise.all([
		countByGateway(
			db,
			sql`count(distinct coalesce(mac, acct_session_id))`,
			sql`connections where gateway_id in (${ids}) and stopped_at is null and seen_at >= ${now - FRESH_MS}`
		),
		countByGateway(
			db,
			sql`count(*)`,
			sql`admissions where gateway_id in (${ids}) and allowed_at is not null and released_at is null
				and allowed_until > ${now}`
		)
	]);
	return new Map(
		registered.flatMap((gateway): [number, number][] => {
			const { id, mode, onlineCount, unresponsiveSince, seenAt } = gateway;
			const devices = connected.get(id);
			if (devices !== undefined) return [[id, devices]];
			if (unresponsiveSince !== null || seenAt === null || isUnmonitored(mode)) return [];
			return [[id, mode === 'radius' ? 0 : (onlineCount ?? allowed.get(id) ?? 0)]];
		})
	);
}

async function countByGateway(queries: Queries, devices: RawBuilder<unknown>, from: RawBuilder<unknown>) {
	const { rows } = await sql<{ gateway_id: number; devices: number }>`
		select gateway_id, ${devices} as devices from ${from} group by gateway_id`.execute(queries);
	return new Map(rows.map((row) => [row.gateway_id, row.devices]));
}

export interface SessionUse {
	session_id: number;
	bytes: number;
	/** Connections with a recent report. */
	connected: number;
}

/** Sums the connections that started during each session, counted once per pass. */
export async function findSessionUses(
	{ database, clock }: Pick<UsageContext, 'database' | 'clock'>,
	sessionIds: readonly number[]
): Promise<Map<number, SessionUse>> {
	if (sessionIds.length === 0) return new Map();
	const { rows } = await sql<SessionUse>`
		select sessions.id as session_id, sum(connection.bytes_in + connection.bytes_out) as bytes,
			sum(case when connection.stopped_at is null and connection.seen_at >= ${clock.now() - FRESH_MS}
				then 1 else 0 end) as connected
		from sessions join connections connection on connection.pass_id = sessions.pass_id
		where sessions.id in (${sql.join(sessionIds)})
			and (sessions.id = sessions.pass_id or connection.started_at >= sessions.starts_at)
			and not exists (select 1 from sessions later where later.pass_id = sessions.pass_id
				and later.id <> sessions.id and later.starts_at >= sessions.expires_at
				and later.starts_at <= connection.started_at)
		group by sessions.id`.execute(database.db);
	return new Map(rows.map((row) => [row.session_id, row]));
}
