import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries } from '../db/database.ts';
import type { GatewaysTable, CaptiveSessionsTable } from '../db/schema.ts';

export type GatewayRow = Selectable<GatewaysTable>;
export type CaptiveSessionRow = Selectable<CaptiveSessionsTable>;

export const insertGateway = (queries: Queries, gateway: Insertable<GatewaysTable>): Promise<GatewayRow> =>
	queries.insertInto('gateways').values(gateway).returningAll().executeTakeFirstOrThrow();

export async function findGateway(
	queries: Queries,
	column: 'id' | 'key_hash' | 'name',
	value: string | number
): Promise<GatewayRow | null> {
	const row = await queries.selectFrom('gateways').selectAll().where(column, '=', value).executeTakeFirst();
	return row ?? null;
}

export const listGateways = (queries: Queries, limit: number): Promise<GatewayRow[]> =>
	queries.selectFrom('gateways').selectAll().orderBy('name').limit(limit).execute();

export const gatewaysOfKind = (
	queries: Queries,
	kind: GatewayRow['kind'],
	limit: number
): Promise<GatewayRow[]> =>
	queries.selectFrom('gateways').selectAll().where('kind', '=', kind).orderBy('id').limit(limit).execute();

/** What tells gateways of one kind apart, and nothing that has to be opened first. */
export const placesOfKind = (
	queries: Queries,
	kind: GatewayRow['kind'],
	limit: number
): Promise<Pick<GatewayRow, 'id' | 'settings'>[]> =>
	queries
		.selectFrom('gateways')
		.select(['id', 'settings'])
		.where('kind', '=', kind)
		.orderBy('id')
		.limit(limit)
		.execute();

/** More stand on no router. */
const MAX_OF_ROUTER = 20;

export const gatewaysOfRouter = (queries: Queries, routerId: number): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		.where('router_id', '=', routerId)
		.orderBy('id')
		.limit(MAX_OF_ROUTER)
		.execute();

export const gatewaysOfRouters = (
	queries: Queries,
	routerIds: readonly number[],
	limit: number
): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		.where('router_id', 'in', routerIds)
		.orderBy('router_id')
		.orderBy('id')
		.limit(limit)
		.execute();

/** Writes what is new of a gateway, and nothing where all of it is known. */
export async function noteGateway(
	queries: Queries,
	row: GatewayRow,
	news: Partial<
		Pick<GatewayRow, 'seen_at' | 'unresponsive_since' | 'clock_offset_ms' | 'trouble' | 'online_count'>
	>
): Promise<void> {
	const known = new Map<string, unknown>(Object.entries(row));
	if (Object.entries(news).every(([name, value]) => known.get(name) === value)) return;
	await queries.updateTable('gateways').set(news).where('id', '=', row.id).execute();
}

/** One of its gateways is heard of: it is sold again. */
export async function hearRouter(queries: Queries, routerId: number): Promise<void> {
	await queries
		.updateTable('routers')
		.set({ unresponsive_since: null })
		.where('id', '=', routerId)
		.where('unresponsive_since', 'is not', null)
		.execute();
}

export const updateGateway = (
	queries: Queries,
	id: number,
	change: Updateable<GatewaysTable>
): Promise<GatewayRow> =>
	queries.updateTable('gateways').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Its visits go with it. */
export async function removeGateway(queries: Queries, id: number): Promise<void> {
	await queries.deleteFrom('gateways').where('id', '=', id).execute();
}

export async function insertCaptiveSession(
	queries: Queries,
	visit: Insertable<CaptiveSessionsTable>
): Promise<CaptiveSessionRow> {
	return queries.insertInto('captive_sessions').values(visit).returningAll().executeTakeFirstOrThrow();
}

export async function findCaptiveSession(
	queries: Queries,
	gatewayId: number,
	idHash: string,
	now: number
): Promise<CaptiveSessionRow | null> {
	const row = await queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('id_hash', '=', idHash)
		.where('gateway_id', '=', gatewayId)
		.where('expires_at', '>', now)
		.executeTakeFirst();
	return row ?? null;
}

/** A visit by its id alone: whoever knows it came in through its gateway. */
export async function findCaptiveSessionById(
	queries: Queries,
	idHash: string,
	now: number
): Promise<CaptiveSessionRow | null> {
	const row = await queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('id_hash', '=', idHash)
		.where('expires_at', '>', now)
		.executeTakeFirst();
	return row ?? null;
}

export async function findCaptiveSessionRow(queries: Queries, id: number): Promise<CaptiveSessionRow | null> {
	const row = await queries.selectFrom('captive_sessions').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

/** The newest visits of a gateway, and the newest of those that led to a purchase: as many of each. */
export async function newestCaptiveSessions(
	queries: Queries,
	gatewayId: number,
	now: number,
	limit: number
): Promise<CaptiveSessionRow[]> {
	const newest = queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('expires_at', '>', now)
		.orderBy('id', 'desc')
		.limit(limit);
	return [
		...(await newest.where('purchase_token_hash', 'is not', null).execute()),
		...(await newest.execute())
	];
}

/** CaptiveSessions of a purchase at the gateways of one router, newest first. */
export const captiveSessionsOfPurchase = (
	queries: Queries,
	{ tokenHash, routerId }: { tokenHash: string; routerId: number },
	now: number,
	limit: number
): Promise<CaptiveSessionRow[]> =>
	queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('purchase_token_hash', '=', tokenHash)
		.where('gateway_id', 'in', (gateways) =>
			gateways.selectFrom('gateways').select('id').where('router_id', '=', routerId)
		)
		.where('expires_at', '>', now)
		.orderBy('bound_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

/** The newest visit of a device at a gateway that led to a purchase. */
export async function newestPurchaseOf(
	queries: Queries,
	{ gatewayId, clientMac }: { gatewayId: number; clientMac: string },
	now: number
): Promise<CaptiveSessionRow | null> {
	const row = await queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('client_mac', '=', clientMac)
		.where('purchase_token_hash', 'is not', null)
		.where('expires_at', '>', now)
		.orderBy('bound_at', 'desc')
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

/** The newest visit that came from an address at a gateway. */
export async function newestAt(
	queries: Queries,
	{ gatewayId, clientIp }: { gatewayId: number; clientIp: string },
	now: number
): Promise<CaptiveSessionRow | null> {
	const row = await queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('gateway_id', '=', gatewayId)
		.where('client_ip', '=', clientIp)
		.where('expires_at', '>', now)
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

export async function updateCaptiveSession(
	queries: Queries,
	id: number,
	change: Updateable<CaptiveSessionsTable>
): Promise<void> {
	await queries.updateTable('captive_sessions').set(change).where('id', '=', id).execute();
}

export async function moveCaptiveSessions(
	queries: Queries,
	fromTokenHash: string,
	toTokenHash: string
): Promise<void> {
	await queries
		.updateTable('captive_sessions')
		.set({ purchase_token_hash: toTokenHash })
		.where('purchase_token_hash', '=', fromTokenHash)
		.execute();
}

/** Forgets some of the visits that are over. @returns how many */
export async function deleteExpiredCaptiveSessions(
	queries: Queries,
	now: number,
	limit: number
): Promise<number> {
	const { numDeletedRows } = await queries
		.deleteFrom('captive_sessions')
		.where('id', 'in', (visits) =>
			visits
				.selectFrom('captive_sessions')
				.select('id')
				.where('expires_at', '<=', now)
				.orderBy('expires_at')
				.limit(limit)
		)
		.executeTakeFirstOrThrow();
	return Number(numDeletedRows);
}
