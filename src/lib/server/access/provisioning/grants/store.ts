import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { exists, first, isChanged } from '#lib/server/db/first.ts';
import type { GrantsTable } from '#lib/server/db/schema.ts';

export type GrantRow = Selectable<GrantsTable>;

export const insertGrant = (queries: Queries, grant: Insertable<GrantsTable>): Promise<GrantRow> =>
	queries.insertInto('grants').values(grant).returningAll().executeTakeFirstOrThrow();

export const findGrant = (queries: Queries, id: number): Promise<GrantRow | null> =>
	first(queries.selectFrom('grants').selectAll().where('id', '=', id));

/** States of a grant that its pass wants, unless it was released. */
export const WANTED = ['granting', 'granted'] as const;
/** States in which the gateway may let the device in. */
export const OPEN = ['granting', 'granted', 'revoking'] as const;

export const openGrantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries
		.selectFrom('grants')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('state', 'in', OPEN)
		.orderBy('id')
		.execute();

export const grantsOf = (queries: Queries, passId: number): Promise<GrantRow[]> =>
	queries.selectFrom('grants').selectAll().where('pass_id', '=', passId).orderBy('id').execute();

const change = (queries: Queries, id: number, to: Updateable<GrantsTable>) =>
	queries.updateTable('grants').set(to).where('id', '=', id);

/** Stores that the gateway has let in a device of the pass until then, whatever became of the grant since. */
export const setConfirmedEnd = (queries: Queries, id: number, endMs: number | null) =>
	change(queries, id, { confirmed_end_at: endMs }).execute();

/** Changes a grant unless it is over. Returns whether it did. */
export const changeOpen = (queries: Queries, id: number, to: Updateable<GrantsTable>): Promise<boolean> =>
	isChanged(change(queries, id, to).where('state', 'in', OPEN));

/** Changes a grant if its pass wants it, in the state and revision that the caller expects. */
export async function changeWanted(
	queries: Queries,
	{ id, state, revision }: { id: number; state?: 'granting' | 'granted'; revision?: number },
	to: Updateable<GrantsTable>
): Promise<boolean> {
	let query = change(queries, id, to)
		.where('state', 'in', state === undefined ? WANTED : [state])
		.where('released_at', 'is', null);
	if (revision !== undefined) query = query.where('revision', '=', revision);
	return isChanged(query);
}

/** Revokes a grant that its gateway may have carried out late, unless the pass wants it. */
export const revokeAgain = (queries: Queries, id: number, now: number) =>
	queries
		.updateTable('grants')
		.set({ state: 'revoking', unanswered_at: now, updated_at: now })
		.where('id', '=', id)
		.where((row) =>
			row.or([
				row('state', 'in', ['revoking', 'revoked', 'failed']),
				row.and([row('state', 'in', WANTED), row('released_at', 'is not', null)])
			])
		)
		.execute();

/** Requests a grant again. Earlier answers and a call in progress do not count. Returns whether it did. */
export async function requestAgain(
	queries: Queries,
	id: number,
	to: Updateable<GrantsTable>
): Promise<boolean> {
	const again = { state: 'granting', requested_end_at: null, granted_at: null, ...to } as const;
	return isChanged(
		change(queries, id, again)
			.set({ revision: sql<number>`revision + 1` })
			.where('state', 'in', WANTED)
			.where('released_at', 'is', null)
	);
}

/** For a user, lists its other grants of the same pass. */
export function sameDevice(
	queries: Queries,
	grant: GrantRow,
	gatewayIds: readonly number[]
): Promise<GrantRow[]> {
	const others = queries
		.selectFrom('grants')
		.selectAll()
		.where('id', '<>', grant.id)
		.where('gateway_id', 'in', gatewayIds)
		.where('state', 'in', WANTED)
		.where('released_at', 'is', null)
		.orderBy('id')
		.limit(MAX_SAME_DEVICE);
	return (
		grant.mac === null
			? others.where('mac', 'is', null).where('pass_id', '=', grant.pass_id)
			: others.where('mac', '=', grant.mac)
	).execute();
}

const MAX_SAME_DEVICE = 20;

/** Whether a grant was released after `since` while its gateway still lets the device in. */
export async function hasMovedIn(
	queries: Queries,
	pass: { passId: number; gatewayIds: readonly number[]; since: number },
	now: number
): Promise<boolean> {
	if (pass.gatewayIds.length === 0) return false;
	return exists(
		queries
			.selectFrom('grants')
			.select('id')
			.where('pass_id', '=', pass.passId)
			.where('gateway_id', 'in', pass.gatewayIds)
			.where('mac', 'is not', null)
			.where('released_at', '>', pass.since)
			.where((row) => row.or([row('requested_end_at', '>', now), row('confirmed_end_at', '>', now)]))
	);
}

/** Devices other than this one. A device that roams has a grant at each gateway. */
export const otherMacs = (grants: readonly GrantRow[], mac: string): Set<string> =>
	new Set(grants.flatMap((grant) => (grant.mac === null || grant.mac === mac ? [] : [grant.mac])));

export const isWanted = ({ released_at: releasedAt, state }: GrantRow): boolean =>
	releasedAt === null && state !== 'revoking';
