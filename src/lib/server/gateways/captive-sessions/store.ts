import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { first } from '#lib/server/db/queries.ts';
import type { CaptiveSessionsTable } from '#lib/server/db/schema.ts';

export type CaptiveSessionRow = Selectable<CaptiveSessionsTable>;

export const insert = (queries: Queries, values: Insertable<CaptiveSessionsTable>) =>
	queries.insertInto('captive_sessions').values(values).execute();

const current = (queries: Queries, now: number) =>
	queries.selectFrom('captive_sessions').selectAll().where('expires_at', '>', now);

/** @param gatewayId null for any gateway */
export function find(queries: Queries, gatewayId: number | null, idHash: string, now: number) {
	const found = current(queries, now).where('id_hash', '=', idHash);
	return first(gatewayId === null ? found : found.where('gateway_id', '=', gatewayId));
}

export const findRow = (queries: Queries, id: number) =>
	first(queries.selectFrom('captive_sessions').selectAll().where('id', '=', id));

export const ofPurchase = (
	queries: Queries,
	{ tokenHash, routerId }: { tokenHash: string; routerId: number },
	now: number,
	limit: number
) =>
	current(queries, now)
		.where('purchase_token_hash', '=', tokenHash)
		.where('gateway_id', 'in', (gateways) =>
			gateways.selectFrom('gateways').select('id').where('router_id', '=', routerId)
		)
		.orderBy('bound_at', 'desc')
		.orderBy('id', 'desc')
		.limit(limit)
		.execute();

const ofDevice = (queries: Queries, gatewayId: number, clientMac: string, now: number) =>
	current(queries, now).where('gateway_id', '=', gatewayId).where('client_mac', '=', clientMac);

export const newestPurchaseOf = (...device: Parameters<typeof ofDevice>) =>
	first(
		ofDevice(...device)
			.where('purchase_token_hash', 'is not', null)
			.orderBy('bound_at', 'desc')
			.orderBy('id', 'desc')
	);

/** A redirect of a device on which no purchase was made or opened since. */
export const newestUnboundOf = (...device: Parameters<typeof ofDevice>) =>
	first(
		ofDevice(...device)
			.where('purchase_token_hash', 'is', null)
			.orderBy('id', 'desc')
	);

export const newestFromIp = (queries: Queries, gatewayId: number, clientIp: string, now: number) =>
	first(
		current(queries, now)
			.where('gateway_id', '=', gatewayId)
			.where('client_ip', '=', clientIp)
			.orderBy('id', 'desc')
	);

export const update = (queries: Queries, id: number, change: Updateable<CaptiveSessionsTable>) =>
	queries.updateTable('captive_sessions').set(change).where('id', '=', id).execute();

export const moveToPurchase = (queries: Queries, fromTokenHash: string, toTokenHash: string) =>
	queries
		.updateTable('captive_sessions')
		.set({ purchase_token_hash: toTokenHash })
		.where('purchase_token_hash', '=', fromTokenHash)
		.execute();
