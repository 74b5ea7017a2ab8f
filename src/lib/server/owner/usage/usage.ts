import type { Clock } from '#lib/server/platform/clock.ts';
import type { Database } from '#lib/server/db/database.ts';
import type { ControlMode } from '#lib/server/gateways/gateway.ts';
import type { Gateways, RegisteredGateway } from '#lib/server/gateways/gateways.ts';
import * as store from './store.ts';

export type { SessionUse } from './store.ts';

interface UsageContext {
	database: Database;
	clock: Clock;
	gateways: Gateways;
}

/** Gateways report each minute. After three missed reports a device counts as offline. */
const FRESH_MS = 180_000;

export type RouterUse = ReturnType<typeof routerUse>;

/** The fields of a gateway that pages may show, without its secrets. */
type GatewayUse = Pick<
	RegisteredGateway,
	'name' | 'title' | 'mode' | 'seenAt' | 'unresponsiveSince' | 'clockOffsetMs'
>;

export const createUsage = (context: UsageContext) => ({
	ofRouters: (routerIds: readonly number[]) => ofRouters(context, routerIds),
	async ofSessions(sessionIds: readonly number[]): Promise<Map<number, store.SessionUse>> {
		if (sessionIds.length === 0) return new Map();
		const rows = await store.useOfSessions(context.database.db, sessionIds, context.clock.now() - FRESH_MS);
		return new Map(rows.map((row) => [row.session_id, row]));
	}
});

const isUnmonitored = (mode: ControlMode) => mode === 'browser' || mode === 'external';

/** `new` has never responded. `unmonitored` sends nothing itself, so its state is unknown. */
export function gatewayState(
	gateway: Pick<GatewayUse, 'mode' | 'seenAt' | 'unresponsiveSince'>
): 'responding' | 'new' | 'unresponsive' | 'unmonitored' {
	if (gateway.seenAt === null) return isUnmonitored(gateway.mode) ? 'unmonitored' : 'new';
	return gateway.unresponsiveSince === null ? 'responding' : 'unresponsive';
}

async function ofRouters(context: UsageContext, routerIds: readonly number[]) {
	const registered = await context.gateways.ofRouters(routerIds);
	if (registered.length === 0) return new Map<number, RouterUse>();
	const online = await onlineAt(context, registered);
	return new Map(
		routerIds.map((routerId) => {
			const own = registered.filter((gateway) => gateway.routerId === routerId);
			return [routerId, routerUse(own, online)];
		})
	);
}

function routerUse(gateways: RegisteredGateway[], online: ReadonlyMap<number, number>) {
	const counts = gateways.flatMap(({ id }) => online.get(id) ?? []);
	return {
		/** null if the gateways do not report devices. */
		online: counts.length > 0 ? counts.reduce((sum, count) => sum + count, 0) : null,
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
