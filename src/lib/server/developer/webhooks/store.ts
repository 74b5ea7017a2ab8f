import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import {
	findById,
	countRows,
	withoutNulls,
	findNewestFirst,
	type NewestFirst
} from '#lib/server/db/queries.ts';
import type { WebhookDeliveriesTable, WebhookEndpointsTable } from '#lib/server/db/schema.ts';

export type EndpointRow = Selectable<WebhookEndpointsTable>;
export type DeliveryRow = Selectable<WebhookDeliveriesTable>;

/** The job's subject is the delivery, its group the endpoint. */
export const DELIVERY_JOB = 'webhooks.deliver';

/** `last_failure` of deliveries to a disabled endpoint. */
export const ENDPOINT_DISABLED = 'endpoint_disabled';

export const HEALTHY = {
	status: 'active',
	disabled_reason: null,
	failing_since: null,
	failing_noticed: 0,
	notice: null,
	notice_lease_until: null
} as const;

export interface DeliveryPage {
	before: number | null;
	limit: number;
	status?: DeliveryRow['status'] | null;
}

export const findByAddress = (queries: Queries, accountId: number, address: string) =>
	queries
		.selectFrom('webhook_endpoints')
		.selectAll()
		.where(({ and }) => and({ account_id: accountId, address }))
		.executeTakeFirst();

export async function find(queries: Queries, accountId: number, id: number): Promise<EndpointRow | null> {
	const row = await endpointById(queries, id);
	return row?.account_id === accountId ? row : null;
}

export const list = (queries: Queries, accountId: number) =>
	queries
		.selectFrom('webhook_endpoints')
		.selectAll()
		.where('account_id', '=', accountId)
		.orderBy('id', 'desc')
		.execute();

export const newestPage = (queries: Queries, accountId: number, page: NewestFirst) =>
	findNewestFirst(
		queries.selectFrom('webhook_endpoints').selectAll().where('account_id', '=', accountId),
		page
	);

export const count = (queries: Queries, accountId: number): Promise<number> =>
	countRows(queries.selectFrom('webhook_endpoints').where('account_id', '=', accountId));

export const insert = (queries: Queries, endpoint: Insertable<WebhookEndpointsTable>) =>
	queries.insertInto('webhook_endpoints').values(endpoint).returningAll().executeTakeFirstOrThrow();

export const change = (queries: Queries, id: number, to: Updateable<WebhookEndpointsTable>) =>
	queries
		.updateTable('webhook_endpoints')
		.set(to)
		.where('id', '=', id)
		.returningAll()
		.executeTakeFirstOrThrow();

export async function remove(queries: Queries, accountId: number, id: number): Promise<boolean> {
	if (!(await find(queries, accountId, id))) return false;
	await queries.deleteFrom('webhook_endpoints').where('id', '=', id).execute();
	return true;
}

/** Pending deliveries stay in the log and can be replayed; their jobs find nothing to send. Add which. */
export const failPending = (queries: Queries) =>
	queries
		.updateTable('webhook_deliveries')
		.set({ status: 'failed', next_attempt_at: null, last_failure: ENDPOINT_DISABLED })
		.where(sql<boolean>`status = 'pending'`);

/** Returns the endpoints of the account that caused the event and of the router's owner. */
export const recipients = (
	queries: Queries,
	event: { type: string; accountId: number; routerId: number }
): Promise<Pick<EndpointRow, 'id' | 'account_id' | 'status'>[]> =>
	queries
		.selectFrom('webhook_endpoints')
		.select(['id', 'account_id', 'status'])
		.where((where) =>
			where.or([
				where('account_id', '=', event.accountId),
				where(
					'account_id',
					'=',
					where.selectFrom('routers').select('owner_account_id').where('routers.id', '=', event.routerId)
				)
			])
		)
		// Event names are quoted in the JSON and contain no wildcard of LIKE.
		.where('events', 'like', `%"${event.type}"%`)
		.orderBy('id')
		.execute();

export const deliveries = (
	queries: Queries,
	endpointId: number,
	page: DeliveryPage
): Promise<DeliveryRow[]> =>
	queries
		.selectFrom('webhook_deliveries')
		.selectAll()
		.where(({ and }) => and({ endpoint_id: endpointId, ...withoutNulls({ status: page.status }) }))
		.where('id', '<', page.before ?? Number.MAX_SAFE_INTEGER)
		.orderBy('id', 'desc')
		.limit(page.limit)
		.execute();

export async function findDelivery(queries: Queries, accountId: number, id: number) {
	if (!Number.isSafeInteger(id)) return undefined;
	return queries
		.selectFrom('webhook_deliveries')
		.innerJoin('webhook_endpoints', 'webhook_endpoints.id', 'webhook_deliveries.endpoint_id')
		.selectAll('webhook_deliveries')
		.select(['webhook_endpoints.address', 'webhook_endpoints.status as endpoint_status'])
		.where('webhook_deliveries.id', '=', id)
		.where('webhook_endpoints.account_id', '=', accountId)
		.executeTakeFirst();
}

/** Finds endpoints of every account. */
export const endpointById = (queries: Reads, id: number) => findById(queries, 'webhook_endpoints', id);

/** `response`: the first kilobyte, redacted; null without a response. */
export const attempts = (queries: Queries, deliveryId: number) =>
	queries
		.selectFrom('webhook_attempts')
		.select(['started_at as startedAt', 'duration_ms as durationMs', 'status_code as statusCode'])
		.select(['failure', 'response'])
		.where('delivery_id', '=', deliveryId)
		.orderBy('started_at')
		.orderBy('id')
		.execute();

/** Makes deliveries of an endpoint due now: one, whatever its state, or those that failed since a moment. @returns their ids */
export async function replay(
	queries: Queries,
	endpointId: number,
	which: { id: number } | { failedSince: number },
	now: number
): Promise<number[]> {
	const all = queries
		.updateTable('webhook_deliveries')
		.set({ status: 'pending', tries: 0, next_attempt_at: now, updated_at: now })
		.where('endpoint_id', '=', endpointId);
	const chosen =
		'id' in which
			? all.where('id', '=', which.id)
			: all.where('status', '=', 'failed').where('created_at', '>=', which.failedSince);
	const rows = await chosen.returning('id').execute();
	return rows.map(({ id }) => id);
}
