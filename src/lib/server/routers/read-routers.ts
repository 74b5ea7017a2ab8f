import type { Database, Queries } from '../db/database.ts';
import { cutPage } from '../db/queries.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError } from '../platform/errors.ts';
import type { RoutersContext } from './context.ts';
import { namedRouters, wordsOf } from './named-routers.ts';
import { bodiesOf, forOwner, singleBody, type OwnedRouter } from './router-body.ts';
import { opensAt } from './router-state.ts';
import * as store from './store.ts';

type RouterRow = store.RouterRow;

interface RouterQuery {
	lat: number;
	lon: number;
	/** metres */
	radius: number;
	limit: number;
	/** Distance in metres and id of the previous page's last router. */
	after: readonly [number, number] | null;
	/** Start of words of the name, address or network. */
	name?: string | undefined;
}

const noRouter = () => new AppError('router_not_found', 'There is no router with this id.');

/** @throws AppError `router_not_found` */
export async function existingRouter(queries: Queries, id: number): Promise<RouterRow> {
	const row = await store.find(queries, id);
	if (!row) throw noRouter();
	return row;
}

/** Only owners see disabled routers. @throws AppError `router_not_found` */
export async function visibleRouter(
	queries: Queries,
	{ accountId }: Pick<Caller, 'accountId'>,
	id: number
): Promise<RouterRow> {
	const row = await existingRouter(queries, id);
	if (row.disabled_at !== null && row.owner_account_id !== accountId) throw noRouter();
	return row;
}

/** Returns a router that the caller may change. @throws AppError `router_not_found | not_router_owner` */
export async function changeableRouter(
	queries: Queries,
	caller: Pick<Caller, 'accountId' | 'role'>,
	id: number
): Promise<RouterRow> {
	if (caller.role === 'admin') return existingRouter(queries, id);
	const router = await visibleRouter(queries, caller, id);
	if (router.owner_account_id === caller.accountId) return router;
	throw new AppError('not_router_owner', 'The router belongs to another account.');
}

/**
 * Reads a router for display. A disabled one is shown to its owner, to the portal of this installation, and to
 * accounts that have ordered there.
 * @throws AppError `router_not_found`
 */
export async function readableRouter(
	queries: Queries,
	{ accountId, plan }: Pick<Caller, 'accountId' | 'plan'>,
	id: number
): Promise<RouterRow> {
	const row = await existingRouter(queries, id);
	const isShown =
		row.disabled_at === null ||
		row.owner_account_id === accountId ||
		plan === 'portal' ||
		(await store.hasOrdered(queries, accountId, id));
	if (!isShown) throw noRouter();
	return row;
}

/** @returns `next`: distance and id of the last router if more follow, otherwise null */
export async function listRouters(
	context: RoutersContext,
	{ lat, lon, radius, limit, after, name }: RouterQuery
) {
	const { database } = context;
	const search = {
		centre: { lat, lon },
		radiusMetres: radius,
		after: after ? { distance: after[0], id: after[1] } : null,
		limit: limit + 1
	};
	const rows = await (name === undefined
		? database.nearestRouters(search)
		: namedRouters(database, name, search));
	const { rows: page, next } = cutPage(rows, limit, (last) => [last.distance, last.id] as const);
	const bodies = await bodiesOf(context, page);
	return { data: bodies.map(([, body]) => body), next };
}

/** Returns when closed routers open automatically, by id. Others are missing. */
export async function openingTimes(
	{ database, config, clock }: RoutersContext,
	ids: readonly number[]
): Promise<Map<number, number>> {
	const now = clock.now();
	const rows = await store.byIds(database.db, ids);
	return new Map(
		rows.flatMap((row) => {
			const at = opensAt(row, config, now);
			return at === null ? [] : [[row.id, at] as const];
		})
	);
}

/** Without a field, all routers. */
interface RouterSearch {
	ownerAccountId?: number;
	/** Start of words of the name, address or network. */
	name?: string;
	/** These are found too. */
	ids?: readonly number[];
}

/** Finds routers of all owners by id, also disabled ones. @returns `next`: the last id if more follow, otherwise null */
export async function searchRouters(
	context: RoutersContext,
	search: RouterSearch,
	{ afterId, limit }: { afterId: number; limit: number }
) {
	const found = await foundRouters(context.database, search, afterId, limit + 1);
	const { rows, next } = cutPage(found, limit, ({ id }) => id);
	const bodies = await bodiesOf(context, rows);
	const now = context.clock.now();
	return { data: bodies.map(([row, body]) => forOwner(body, row, context.config, now)), next };
}

/** Each query reads one range of an index, or the matches of the words. */
export async function foundRouters(
	database: Pick<Database, 'db' | 'hasWords'>,
	{ ownerAccountId, name, ids = [] }: RouterSearch,
	afterId: number,
	limit: number
): Promise<RouterRow[]> {
	const { db } = database;
	if (ownerAccountId !== undefined) return store.ofOwner(db, ownerAccountId, afterId, limit);
	if (name === undefined) return store.page(db, afterId, limit);
	const words = wordsOf(name);
	const named = words.length === 0 ? [] : await store.pageWithWords(database, words, afterId, limit);
	const others = (await store.byIds(db, ids)).filter(({ id }) => id > afterId);
	const found = new Map([...named, ...others].map((row) => [row.id, row]));
	return [...found.values()].sort((one, other) => one.id - other.id).slice(0, limit);
}

export async function ownedRouter(
	context: RoutersContext,
	{ accountId, role }: Pick<Caller, 'accountId' | 'role'>,
	id: number
): Promise<OwnedRouter> {
	const row = await existingRouter(context.database.db, id);
	if (row.owner_account_id !== accountId && role !== 'admin') throw noRouter();
	return forOwner(await singleBody(context, row), row, context.config, context.clock.now());
}
