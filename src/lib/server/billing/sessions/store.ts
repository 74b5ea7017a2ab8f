import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { SessionsTable } from '#lib/server/db/schema.ts';

export type SessionRow = Selectable<SessionsTable>;
export type SessionStatus = SessionRow['status'];

/** Inserts a session; one that extends none is the first of its pass. */
export async function insert(queries: Queries, session: Insertable<SessionsTable>): Promise<SessionRow> {
	const row = await queries.insertInto('sessions').values(session).returningAll().executeTakeFirstOrThrow();
	if (session.pass_id !== undefined) return row;
	return queries
		.updateTable('sessions')
		.set({ pass_id: row.id, line_id: row.id })
		.where('id', '=', row.id)
		.returningAll()
		.executeTakeFirstOrThrow();
}

/** The session at the end of the pass that a line of orders has now; null when none of them is active. */
export async function lastOfLine(queries: Queries, lineId: number, now: number): Promise<SessionRow | null> {
	const row = await queries
		.selectFrom('sessions')
		.selectAll()
		.where('line_id', '=', lineId)
		.where('status', '=', 'active')
		.where('expires_at', '>', now)
		.orderBy('expires_at', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

/** The session of a line of orders that is paid and waits for a gateway, with which its pass will begin. */
export async function waitingOfLine(queries: Queries, lineId: number): Promise<SessionRow | null> {
	const row = await queries
		.selectFrom('sessions')
		.selectAll()
		.where('line_id', '=', lineId)
		.where('status', '=', 'activating')
		.whereRef('pass_id', '=', 'id')
		.orderBy('id')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

/** Sessions of a pass that wait for a gateway: the one that it begins with, then those that will follow. */
export const waitingInPass = (queries: Queries, passId: number): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('status', '=', 'activating')
		.orderBy((row) => row.case().when('id', '=', passId).then(0).else(1).end())
		.orderBy('id')
		.execute();

/** Active sessions that follow one in its pass, in their order. */
export async function laterInPass(
	queries: Queries,
	{ id, line_id, pass_id, expires_at }: SessionRow
): Promise<SessionRow[]> {
	return queries
		.selectFrom('sessions')
		.selectAll()
		.where('line_id', '=', line_id)
		.where('pass_id', '=', pass_id)
		.where('status', '=', 'active')
		.where('id', '<>', id)
		.where('starts_at', '>=', expires_at)
		.orderBy('starts_at')
		.execute();
}

export async function find(queries: Queries, id: number): Promise<SessionRow | null> {
	if (!Number.isSafeInteger(id)) return null;
	const row = await queries.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

/**
 * Moves a session on if it is still in the state that the change was decided for.
 * @returns the changed row, or null when another change was faster
 */
export async function change(
	queries: Queries,
	from: { id: number; status: SessionStatus; statusReason?: string },
	to: Updateable<SessionsTable>
): Promise<SessionRow | null> {
	let query = queries
		.updateTable('sessions')
		.set(to)
		.where('id', '=', from.id)
		.where('status', '=', from.status);
	if (from.statusReason !== undefined) query = query.where('status_reason', '=', from.statusReason);
	return (await query.returningAll().executeTakeFirst()) ?? null;
}

/** Until when the session's payments that nobody refused could have been expected; null when there is none. */
export async function lastPaymentExpiry(queries: Queries, id: number): Promise<number | null> {
	const row = await queries
		.selectFrom('payments')
		.select((builder) => builder.fn.max('expires_at').as('at'))
		.where('session_id', '=', id)
		.where('status', 'in', ['expired', 'success'])
		.executeTakeFirst();
	return row?.at ?? null;
}

export async function hasPendingPayment(queries: Queries, id: number): Promise<boolean> {
	const row = await queries
		.selectFrom('payments')
		.select('id')
		.where('session_id', '=', id)
		.where('status', '=', 'pending')
		.executeTakeFirst();
	return row !== undefined;
}

/** Paid sessions of a router whose time is not over, and whose password is the owner's own. */
export async function sharingOf(queries: Queries, routerId: number): Promise<number[]> {
	const rows = await queries
		.selectFrom('sessions')
		.select('id')
		.where('router_id', '=', routerId)
		.where('access_kind', '=', 'shared_password')
		.where('status', 'in', ['activating', 'active'])
		.orderBy('id')
		.execute();
	return rows.map(({ id }) => id);
}

/** Another password for a session that has one. */
export async function reseal(
	queries: Queries,
	id: number,
	to: { password_sealed: string; updated_at: number }
): Promise<void> {
	await queries
		.updateTable('sessions')
		.set(to)
		.where('id', '=', id)
		.where('password_sealed', 'is not', null)
		.execute();
}

export async function newestActive(queries: Queries): Promise<SessionRow | null> {
	const row = await queries
		.selectFrom('sessions')
		.selectAll()
		.where('status', '=', 'active')
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

/** A session that has begun, with the name of its router. */
export type OwnerRow = Pick<
	SessionRow,
	'id' | 'router_id' | 'status' | 'phone' | 'duration' | 'amount_minor' | 'currency' | 'ended_at'
> & { router_name: string; starts_at: number; expires_at: number };

interface Owner {
	accountId: number;
	now: number;
}

/**
 * Sessions that have begun on an owner's routers. Added time is one when its turn comes: until then its buyer is
 * there already, with the session before it.
 */
const begun = (queries: Queries, owner: Owner) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.where('routers.owner_account_id', '=', owner.accountId)
		.where('sessions.status', 'in', ['active', 'expired', 'ended'])
		.where(sql<boolean>`not (sessions.status = 'active' and sessions.starts_at > ${owner.now})`);

/** What runs now; a session whose time is over does not, even if no job has noted it yet. */
const runsNow = (now: number) => sql<boolean>`(sessions.status = 'active' and sessions.expires_at > ${now})`;

/** Newest first, then by id. */
export async function ofOwner(
	queries: Queries,
	owner: Owner,
	page: { group: 'active' | 'expired' | null; after: readonly [number, number] | null; limit: number }
): Promise<OwnerRow[]> {
	let query = begun(queries, owner);
	if (page.group === 'active') query = query.where(runsNow(owner.now));
	if (page.group === 'expired') query = query.where(sql<boolean>`not ${runsNow(owner.now)}`);
	if (page.after) {
		const [startsAt, id] = page.after;
		query = query.where(sql<boolean>`(sessions.starts_at, sessions.id) < (${startsAt}, ${id})`);
	}
	return query
		.select([
			'sessions.id',
			'sessions.router_id',
			'routers.name as router_name',
			'sessions.status',
			'sessions.phone',
			'sessions.duration',
			'sessions.amount_minor',
			'sessions.currency',
			'sessions.ended_at'
		])
		.select([
			sql<number>`sessions.starts_at`.as('starts_at'),
			sql<number>`sessions.expires_at`.as('expires_at')
		])
		.orderBy('sessions.starts_at', 'desc')
		.orderBy('sessions.id', 'desc')
		.limit(page.limit)
		.execute();
}

export async function countOfOwner(
	queries: Queries,
	owner: Owner
): Promise<{ active: number; expired: number }> {
	const row = await begun(queries, owner)
		.select([
			sql<number>`coalesce(sum(case when ${runsNow(owner.now)} then 1 else 0 end), 0)`.as('active'),
			sql<number>`coalesce(sum(case when ${runsNow(owner.now)} then 0 else 1 end), 0)`.as('expired')
		])
		.executeTakeFirstOrThrow();
	return row;
}
