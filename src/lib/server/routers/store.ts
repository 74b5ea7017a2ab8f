import type { Insertable, Updateable } from 'kysely';
import type { Box } from '#lib/domain/geo.ts';
import type { Database, Queries } from '../db/database.ts';
import { findById, countRows, exists } from '../db/queries.ts';
import type { Row, Schema } from '../db/schema.ts';

export type RouterRow = Row<'routers'>;
export type NewRouter = Insertable<Schema['routers']>;

/** Begins the external id of routers from the owner pages. The key of their form follows. */
export const FORM_ID = 'form:';

export const find = (queries: Queries, id: number) => findById(queries, 'routers', id);

export const insert = (queries: Queries, router: NewRouter): Promise<RouterRow> =>
	queries.insertInto('routers').values(router).returningAll().executeTakeFirstOrThrow();

export const byIds = (queries: Queries, ids: readonly number[]) =>
	ids.length === 0 ? [] : queries.selectFrom('routers').selectAll().where('id', 'in', ids).execute();

/** Positions in one of the boxes, of routers that are not disabled (see Database.hasWords). */
export const withWords = (
	{ db, hasWords }: Database,
	words: readonly string[],
	boxes: readonly Box[],
	limit: number
) =>
	db
		.selectFrom('routers')
		.select(['id', 'lat', 'lon'])
		.where(hasWords(words))
		.where('disabled_at', 'is', null)
		.where(({ and, between, or }) =>
			or(
				boxes.map(({ minLat, maxLat, minLon, maxLon }) =>
					and([between('lat', minLat, maxLat), between('lon', minLon, maxLon)])
				)
			)
		)
		.limit(limit)
		.execute();

export interface PriceChange {
	/** As it was before. */
	router: RouterRow;
	priceMinor: number;
	/** Account and API key; null for an import. */
	accountId: number | null;
	keyId: number | null;
	now: number;
}

export async function recordPrices(queries: Queries, changes: readonly PriceChange[]): Promise<void> {
	if (changes.length === 0) return;
	const rows = changes.map(({ router, priceMinor, accountId, keyId, now }) => ({
		...{ router_id: router.id, old_price_minor: router.price_minor, new_price_minor: priceMinor },
		...{ currency: router.currency, account_id: accountId, api_key_id: keyId, changed_at: now }
	}));
	await queries.insertInto('price_changes').values(rows).execute();
}

export const update = (queries: Queries, id: number, change: Updateable<Schema['routers']>) =>
	queries.updateTable('routers').set(change).where('id', '=', id).execute();

export async function byExternalIds(
	queries: Queries,
	ownerAccountId: number,
	externalIds: readonly string[]
): Promise<Map<string, RouterRow>> {
	const rows = await queries
		.selectFrom('routers')
		.selectAll()
		.where('owner_account_id', '=', ownerAccountId)
		.where('external_id', 'in', externalIds)
		.execute();
	return new Map(rows.map((row) => [row.external_id ?? '', row]));
}

/** Counts the owner's routers from the owner pages that no gateway has served. */
export const countUnconnected = (queries: Queries, ownerAccountId: number): Promise<number> =>
	countRows(
		queries
			.selectFrom('routers')
			.where('owner_account_id', '=', ownerAccountId)
			.where('external_id', 'like', `${FORM_ID}%`)
			.where('responded_at', 'is', null)
	);

/** Lets imports of one owner take turns: two processes that start on an empty database give the demo routers the same ids. */
export const lockOwner = (queries: Queries, accountId: number) =>
	queries
		.updateTable('accounts')
		.set((row) => ({ email: row.ref('email') }))
		.where('id', '=', accountId)
		.execute();

/** The columns that an import can change. */
export const STATED_COLUMNS = [
	...(['name', 'address', 'ssid', 'hidden', 'security', 'access_kind', 'lat', 'lon'] as const),
	...(['price_minor', 'currency', 'status'] as const)
];

export const upsertImported = (queries: Queries, routers: readonly NewRouter[]) =>
	queries
		.insertInto('routers')
		.values(routers)
		.onConflict((conflict) =>
			conflict
				.columns(['owner_account_id', 'external_id'])
				.doUpdateSet((row) =>
					Object.fromEntries(
						[...STATED_COLUMNS, 'updated_at' as const].map((name) => [name, row.ref(`excluded.${name}`)])
					)
				)
		)
		.execute();

/** By id, from the routers whose words begin with these (see Database.hasWords), also disabled ones. */
export const pageWithWords = (
	{ db, hasWords }: Pick<Database, 'db' | 'hasWords'>,
	words: readonly string[],
	afterId: number,
	limit: number
) => pageQuery(db, afterId, limit).where(hasWords(words)).execute();

export const listRouterRows = (queries: Queries, afterId: number, limit: number) =>
	pageQuery(queries, afterId, limit).execute();

export const ofOwner = (queries: Queries, ownerAccountId: number, afterId: number, limit: number) =>
	pageQuery(queries, afterId, limit).where('owner_account_id', '=', ownerAccountId).execute();

const pageQuery = (queries: Queries, afterId: number, limit: number) =>
	queries.selectFrom('routers').selectAll().where('id', '>', afterId).orderBy('id').limit(limit);

export const unverified = (queries: Queries, limit: number) =>
	queries
		.selectFrom('routers')
		.select(['id', 'name'])
		.where('status', '=', 'online')
		.where('disabled_at', 'is', null)
		.where('access_kind', '<>', 'shared_password')
		.where('responded_at', 'is', null)
		.where('access_confirmed_at', 'is', null)
		.orderBy('id')
		.limit(limit)
		.execute();

export const hasOrdered = (queries: Queries, accountId: number, routerId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('sessions')
			.select('id')
			.where('account_id', '=', accountId)
			.where('router_id', '=', routerId)
	);

export const countRouters = (queries: Queries): Promise<number> => countRows(queries.selectFrom('routers'));
