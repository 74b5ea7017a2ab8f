import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { CaptiveSessionsTable } from '#lib/server/db/schema.ts';

export type CaptiveSessionRow = Selectable<CaptiveSessionsTable>;

export async function insert(
	queries: Queries,
	values: Insertable<CaptiveSessionsTable>
): Promise<CaptiveSessionRow> {
	return queries.insertInto('captive_sessions').values(values).returningAll().executeTakeFirstOrThrow();
}

export async function find(
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

/** Finds a captive session at any gateway. */
export async function findById(
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

export async function findRow(queries: Queries, id: number): Promise<CaptiveSessionRow | null> {
	const row = await queries
		.selectFrom('captive_sessions')
		.selectAll()
		.where('id', '=', id)
		.executeTakeFirst();
	return row ?? null;
}

/** The `limit` newest captive sessions of a gateway, and the `limit` newest of those that led to a purchase. */
export async function newest(
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

/** Captive sessions of a purchase at the gateways of one router, newest first. */
export const ofPurchase = (
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

/** The newest captive session of a device at a gateway that led to a purchase. */
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

/** The newest captive session of an IP address at a gateway. */
export async function newestFromIp(
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

export async function update(
	queries: Queries,
	id: number,
	change: Updateable<CaptiveSessionsTable>
): Promise<void> {
	await queries.updateTable('captive_sessions').set(change).where('id', '=', id).execute();
}

export async function moveToPurchase(
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

/** Deletes up to `limit` expired captive sessions. @returns how many */
export async function deleteExpired(queries: Queries, now: number, limit: number): Promise<number> {
	const { numDeletedRows } = await queries
		.deleteFrom('captive_sessions')
		.where('id', 'in', (expired) =>
			expired
				.selectFrom('captive_sessions')
				.select('id')
				.where('expires_at', '<=', now)
				.orderBy('expires_at')
				.limit(limit)
		)
		.executeTakeFirstOrThrow();
	return Number(numDeletedRows);
}
