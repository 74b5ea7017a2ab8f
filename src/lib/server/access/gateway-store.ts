import type { Queries } from '../db/database.ts';
import type { GrantRow } from './store.ts';

/** Grants that a gateway may act on. */
const openAt = (queries: Queries, gatewayId: number) =>
	queries
		.selectFrom('access_grants')
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted', 'revoking']);

interface After {
	gatewayId: number;
	afterId: number;
}

/** How many grants a gateway may act on, after one of them. */
export async function countOpenAt(queries: Queries, { gatewayId, afterId }: After): Promise<number> {
	const { count } = await openAt(queries, gatewayId)
		.select(({ fn }) => fn.countAll<number | string>().as('count'))
		.where('id', '>', afterId)
		.executeTakeFirstOrThrow();
	return Number(count);
}

/** The same, in their order. */
export const openGrantsAt = (
	queries: Queries,
	{ gatewayId, afterId }: After,
	limit: number
): Promise<GrantRow[]> =>
	openAt(queries, gatewayId).selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute();

/** When a gateway was last asked to let somebody in whom it is to put out; null where no answer is missing. */
export async function lastAskedAt(queries: Queries, gatewayId: number): Promise<number | null> {
	const { at } = await openAt(queries, gatewayId)
		.select(({ fn }) => fn.max('asked_at').as('at'))
		.executeTakeFirstOrThrow();
	return at;
}

/** Whether a gateway is to let somebody in, or has been asked to since a moment without an answer. */
export async function mayLetIn(queries: Queries, gatewayId: number, since: number): Promise<boolean> {
	const row = await openAt(queries, gatewayId)
		.select('id')
		.where((grant) => grant.or([grant('state', '<>', 'revoking'), grant('asked_at', '>', since)]))
		.limit(1)
		.executeTakeFirst();
	return row !== undefined;
}

/**
 * A guest is not to be in at a gateway any more: a user of one pass, or a device, whichever passes hold it in there.
 * @returns the grants that were to hold it in until now
 */
export async function releaseGuest(
	queries: Queries,
	{ id, gateway_id: gatewayId, mac }: GrantRow,
	now: number
): Promise<number[]> {
	const wanted = queries
		.updateTable('access_grants')
		.set({ released_at: now, updated_at: now })
		.where('gateway_id', '=', gatewayId)
		.where('state', 'in', ['granting', 'granted'])
		.where('released_at', 'is', null);
	const own = mac === null ? wanted.where('id', '=', id) : wanted.where('mac', '=', mac);
	return (await own.returning('id').execute()).map((row) => row.id);
}
