import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import { leastMs } from '#lib/domain/data-limit.ts';
import type { Queries } from '#lib/server/db/database.ts';
import { first } from '#lib/server/db/first.ts';
import type { PassesTable, SessionsTable } from '#lib/server/db/schema.ts';

export type PassRow = Selectable<PassesTable>;

export const insert = (queries: Queries, pass: Insertable<PassesTable>): Promise<PassRow> =>
	queries.insertInto('passes').values(pass).returningAll().executeTakeFirstOrThrow();

export const find = (queries: Queries, id: number): Promise<PassRow | null> =>
	first(queries.selectFrom('passes').selectAll().where('id', '=', id));

export const findAll = async (queries: Queries, ids: readonly number[]): Promise<PassRow[]> =>
	ids.length === 0 ? [] : queries.selectFrom('passes').selectAll().where('id', 'in', ids).execute();

export const change = (queries: Queries, id: number, to: Updateable<PassesTable>): Promise<PassRow> =>
	queries.updateTable('passes').set(to).where('id', '=', id).returningAll().executeTakeFirstOrThrow();

/** Adds data in one statement. Returns null, and adds nothing, if a device cannot have used that much since the start. */
export async function addUsedData(
	queries: Queries,
	id: number,
	bytes: number,
	now: number
): Promise<PassRow | null> {
	const used = sql<number>`coalesce(data_used_bytes, 0)`;
	const pass = await queries
		.updateTable('passes')
		.set({ data_used_bytes: sql`${used} + ${bytes}`, updated_at: now })
		.where('id', '=', id)
		.where(sql<number>`coalesce(starts_at, created_at)`, '<=', now - Math.max(0, leastMs(bytes)))
		.where(used, '<=', Number.MAX_SAFE_INTEGER - bytes)
		.returningAll()
		.executeTakeFirst();
	return pass ?? null;
}

const withPassword = (queries: Queries) =>
	queries.selectFrom('passes').selectAll().where('password_sealed', 'is not', null);

const openWithPassword = (queries: Queries, now: number) =>
	withPassword(queries)
		.where((pass) => pass.or([pass('activating_until', 'is not', null), pass('ends_at', '>', now)]))
		.orderBy('id');

const openOf = (queries: Queries, routerId: number, now: number) =>
	openWithPassword(queries, now).where('router_id', '=', routerId);

export const openPassesAt = (
	queries: Queries,
	{ routerId, afterId }: { routerId: number; afterId: number },
	now: number,
	limit: number
) => openOf(queries, routerId, now).where('id', '>', afterId).limit(limit).execute();

export const sharingPassword = (queries: Queries, routerId: number, now: number) =>
	openOf(queries, routerId, now).where('access_kind', '=', 'shared_password').execute();

export const newestWithPassword = (queries: Queries) => first(withPassword(queries).orderBy('id', 'desc'));

export const oldestOpenWithPassword = (queries: Queries, now: number) =>
	first(openWithPassword(queries, now));

export async function waitingSeconds(queries: Queries, passId: number): Promise<number> {
	const { seconds } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.sum<number | null>('duration_seconds').as('seconds'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'activating')
		.executeTakeFirstOrThrow();
	return seconds ?? 0;
}

/** Returns the end in ms since the epoch, or null when no session is active. */
export async function lastActiveEnd(queries: Queries, passId: number): Promise<number | null> {
	const { at } = await queries
		.selectFrom('sessions')
		.select(({ fn }) => fn.max('expires_at').as('at'))
		.where('pass_id', '=', passId)
		.where('status', '=', 'active')
		.executeTakeFirstOrThrow();
	return at;
}

export async function reasonOfEnd(queries: Queries, passId: number): Promise<string | null> {
	const row = await first(
		queries
			.selectFrom('sessions')
			.select('status_reason')
			.where('pass_id', '=', passId)
			.where('status', '=', 'ended')
			.orderBy('ended_at', 'desc')
			.orderBy('id', 'desc')
	);
	return row && (row.status_reason ?? 'ended');
}

export const newestSessionOf = (
	queries: Queries,
	passId: number
): Promise<Selectable<SessionsTable> | null> =>
	first(queries.selectFrom('sessions').selectAll().where('pass_id', '=', passId).orderBy('id', 'desc'));

export const ssidOf = async (queries: Queries, routerId: number): Promise<string> => {
	const router = queries.selectFrom('routers').select('ssid').where('id', '=', routerId);
	return (await router.executeTakeFirstOrThrow()).ssid;
};

/** Creates the purchase that binds captive sessions to an API buyer's pass, unless it exists. */
export async function addPurchase(
	queries: Queries,
	tokenHash: string,
	session: Selectable<SessionsTable>,
	now: number
): Promise<void> {
	const { id, router_id, duration, payment_method, phone, amount_minor, currency } = session;
	await queries
		.insertInto('purchases')
		.values({
			...{ token_hash: tokenHash, session_id: id, replaces_session_id: null },
			...{ router_id, duration, payment_method, phone, amount_minor, currency },
			...{ created_at: now, updated_at: now }
		})
		.onConflict((conflict) => conflict.column('token_hash').doNothing())
		.execute();
}

export async function sessionOfPurchase(queries: Queries, tokenHash: string): Promise<number | null> {
	const row = await queries
		.selectFrom('purchases')
		.select('session_id')
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	return row?.session_id ?? null;
}
