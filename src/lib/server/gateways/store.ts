import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries, Reads } from '../db/database.ts';
import { first } from '#lib/server/db/queries.ts';
import type { GatewaysTable } from '../db/schema.ts';

export type GatewayRow = Selectable<GatewaysTable>;

export const insertGateway = (queries: Queries, gateway: Insertable<GatewaysTable>): Promise<GatewayRow> =>
	queries.insertInto('gateways').values(gateway).returningAll().executeTakeFirstOrThrow();

export const findGatewayRow = (
	queries: Queries,
	column: 'id' | 'key_hash' | 'name',
	value: string | number
): Promise<GatewayRow | null> => first(queries.selectFrom('gateways').selectAll().where(column, '=', value));

const BATCH = 500;

export async function* iterateGateways(queries: Queries): AsyncGenerator<GatewayRow> {
	for (let afterId = 0, isMore = true; isMore;) {
		const found = queries.selectFrom('gateways').selectAll().where('id', '>', afterId);
		const rows = await found.orderBy('id').limit(BATCH).execute();
		yield* rows;
		afterId = rows.at(-1)?.id ?? afterId;
		isMore = rows.length === BATCH;
	}
}

/** Returns all gateways with this setting, and perhaps others: callers compare it. */
export const findGatewaysWith = (
	queries: Reads,
	setting: 'api' | 'site',
	value: string
): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		// PostgreSQL's JSON functions, which a migration used, write a space.
		.where('settings', 'like', `%"${setting}":%"${value}"%`)
		.orderBy('id')
		.execute();

/** For the routers of one page. */
const MAX_OF_ROUTERS = 1_000;

export const selectGatewaysOfRouters = (
	queries: Queries,
	routerIds: readonly number[]
): Promise<GatewayRow[]> =>
	queries
		.selectFrom('gateways')
		.selectAll()
		.where('router_id', 'in', routerIds)
		.orderBy('router_id')
		.orderBy('id')
		.limit(MAX_OF_ROUTERS)
		.execute();

/** Writes nothing if no value has changed, or if the gateway got other settings or secrets meanwhile. */
export async function updateStatus(
	queries: Queries,
	row: GatewayRow,
	update: Partial<
		Pick<
			GatewayRow,
			| 'seen_at'
			| 'unresponsive_since'
			| 'clock_offset_ms'
			| 'trouble'
			| 'online_count'
			| 'unread_device'
			| 'unread_device_at'
		>
	>
): Promise<void> {
	const known = new Map<string, unknown>(Object.entries(row));
	if (Object.entries(update).every(([name, value]) => known.get(name) === value)) return;
	await queries
		.updateTable('gateways')
		.set(update)
		.where('id', '=', row.id)
		.where('updated_at', '=', row.updated_at)
		.execute();
}

/** Writes nothing if the gateway got other settings or secrets since it was read. */
export const updateSettings = (
	queries: Queries,
	{ id, updatedAt }: { id: number; updatedAt: number },
	settings: string
) =>
	queries
		.updateTable('gateways')
		.set({ settings })
		.where('id', '=', id)
		.where('updated_at', '=', updatedAt)
		.execute();

export const markRouterOnline = (queries: Queries, routerId: number) =>
	queries
		.updateTable('routers')
		.set({ unresponsive_since: null })
		.where('id', '=', routerId)
		.where('unresponsive_since', 'is not', null)
		.execute();

/** Stores when a gateway of the router responded. A removed or rotated gateway does not count. */
export const updateResponded = (queries: Queries, routerId: number) =>
	queries
		.updateTable('routers')
		.set(({ selectFrom }) => ({
			responded_at: selectFrom('gateways')
				.select(({ fn }) => fn.min('seen_at').as('at'))
				.where('router_id', '=', routerId)
		}))
		.where('id', '=', routerId)
		.execute();

export const updateGateway = (
	queries: Queries,
	id: number,
	change: Updateable<GatewaysTable>
): Promise<GatewayRow> =>
	queries.updateTable('gateways').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Returns the account of each router. */
export async function findOwners(
	queries: Queries,
	routerIds: readonly number[]
): Promise<ReadonlyMap<number, number>> {
	const found = queries.selectFrom('routers').select(['id', 'owner_account_id']);
	const rows = await found.where('id', 'in', [...new Set(routerIds)]).execute();
	return new Map(rows.map(({ id, owner_account_id: owner }) => [id, owner]));
}

/** Returns the accounts to which an administrator gave access points. */
export async function findDecidedOwners(
	queries: Queries,
	accessPoints: readonly string[]
): Promise<ReadonlyMap<string, number>> {
	const found = queries.selectFrom('access_point_owners').selectAll();
	const rows = await found.where('access_point', 'in', accessPoints).execute();
	return new Map(rows.map(({ access_point, owner_account_id: owner }) => [access_point, owner]));
}

export async function decideOwner(
	queries: Queries,
	accessPoints: readonly string[],
	decision: { owner_account_id: number; decided_at: number }
): Promise<void> {
	await queries
		.insertInto('access_point_owners')
		.values(accessPoints.map((access_point) => ({ access_point, ...decision })))
		.onConflict((known) => known.column('access_point').doUpdateSet(decision))
		.execute();
}

/** Deletes its captive sessions and grants by cascade. */
export async function deleteGateway(
	queries: Queries,
	{ id, routerId }: { id: number; routerId: number }
): Promise<void> {
	await queries.deleteFrom('gateways').where('id', '=', id).execute();
	await updateResponded(queries, routerId);
}
