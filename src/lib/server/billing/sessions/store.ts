import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { SessionsTable } from '#lib/server/db/schema.ts';

export type SessionRow = Selectable<SessionsTable>;
export type SessionStatus = SessionRow['status'];

export const insert = (queries: Queries, session: Insertable<SessionsTable>): Promise<SessionRow> =>
	queries.insertInto('sessions').values(session).returningAll().executeTakeFirstOrThrow();

/** Sessions of a pass that are paid and whose time has not started: the one that began the pass first. */
export const activatingOf = (queries: Queries, passId: number): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('status', '=', 'activating')
		.orderBy((session) => session.case().when('id', '=', passId).then(0).else(1).end())
		.orderBy('id')
		.execute();

/** Active sessions that follow one in its pass, in order. */
export const laterInPass = (
	queries: Queries,
	{ id, pass_id: passId, expires_at: expiresAt }: SessionRow
): Promise<SessionRow[]> =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.where('status', '=', 'active')
		.where('id', '<>', id)
		.where('starts_at', '>=', expiresAt)
		.orderBy('starts_at')
		.execute();

/** Puts a paid session into its new pass, with other orders that were not paid before the old pass was over. */
export async function joinPass(
	queries: Queries,
	{ passId, sessionId, replacesPassId }: { passId: number; sessionId: number; replacesPassId: number | null }
): Promise<void> {
	await queries
		.updateTable('sessions')
		.set({ pass_id: passId })
		.where((session) =>
			session.or([
				session('id', '=', sessionId),
				session.and([
					session('pass_id', '=', replacesPassId),
					session('starts_at', 'is', null),
					session.or([
						session('status', '=', 'pending_payment'),
						session('status_reason', '=', 'payment_timeout')
					])
				])
			])
		)
		.execute();
}

export async function find(queries: Queries, id: number): Promise<SessionRow | null> {
	if (!Number.isSafeInteger(id)) return null;
	const row = await queries.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

/** Changes a session if it is still in the state that the change was decided for. Returns null otherwise. */
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

/** The last instant at which a payment of the session that nobody refused could have come; null without one. */
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

/** A session whose time has started, with the name of its router. */
export type OwnerRow = Pick<
	SessionRow,
	'id' | 'router_id' | 'status' | 'phone' | 'duration' | 'amount_minor' | 'currency' | 'ended_at'
> & { router_name: string; starts_at: number; expires_at: number };

interface Owner {
	accountId: number;
	now: number;
}

/**
 * Sessions on an owner's routers whose time has started. Added time counts from its own start: until then the buyer is
 * listed with the session before it.
 */
const begun = (queries: Queries, owner: Owner) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.where('routers.owner_account_id', '=', owner.accountId)
		.where('sessions.status', 'in', ['active', 'expired', 'ended'])
		.where(sql<boolean>`not (sessions.status = 'active' and sessions.starts_at > ${owner.now})`);

/** Running sessions; one whose time is over is none, even before its job has run. */
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
