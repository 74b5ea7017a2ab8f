import { type Insertable, type Selectable, type Updateable, sql } from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import {
	type NewestFirst,
	countRows,
	exists,
	findById,
	findNewestFirst,
	withoutNulls
} from '#lib/server/db/queries.ts';
import type { ExtraTimeTable, SessionsTable } from '#lib/server/db/schema.ts';

export type SessionRow = Selectable<SessionsTable>;
export type SessionStatus = SessionRow['status'];

export const insert = (queries: Queries, session: Insertable<SessionsTable>) =>
	queries.insertInto('sessions').values(session).returningAll().executeTakeFirstOrThrow();

/** The sessions of a pass in a state, by start. Of those that have not started, the one that began the pass comes first. */
export const ofPass = (queries: Queries, passId: number, status: SessionStatus) =>
	queries
		.selectFrom('sessions')
		.selectAll()
		.where(({ and }) => and({ pass_id: passId, status }))
		.orderBy('starts_at')
		.orderBy((session) => session.case().when('id', '=', passId).then(0).else(1).end())
		.orderBy('id')
		.execute();

export const activeOf = (queries: Queries, passId: number) => ofPass(queries, passId, 'active');

/** Lists the active sessions of the same pass whose time follows that of this one. */
export const laterInPass = async (
	queries: Queries,
	{ id, pass_id: passId, expires_at: expiresAt }: SessionRow
): Promise<SessionRow[]> => {
	const active = passId === null ? [] : await activeOf(queries, passId);
	return active.filter((one) => one.id !== id && (one.starts_at ?? 0) >= (expiresAt ?? Infinity));
};

/** Moves a paid session to its new pass, with unpaid orders for the old pass. */
export const joinPass = (
	queries: Queries,
	{ passId, sessionId, replacesPassId }: { passId: number; sessionId: number; replacesPassId: number | null }
) =>
	queries
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

export const find = (queries: Reads, id: number) => findById(queries, 'sessions', id);

export const ofAccount = (
	queries: Queries,
	accountId: number,
	{ status, ...page }: NewestFirst & { status?: SessionStatus | undefined }
) =>
	findNewestFirst(
		queries
			.selectFrom('sessions')
			.selectAll()
			.where(({ and }) => and({ account_id: accountId, ...withoutNulls({ status }) })),
		page
	);

/** Changes a session that is still in the expected state. Returns undefined otherwise. */
export const change = (
	queries: Queries,
	from: { id: number; status: SessionStatus; status_reason?: string },
	to: Updateable<SessionsTable>
) =>
	queries
		.updateTable('sessions')
		.set(to)
		.where(({ and }) => and(from))
		.returningAll()
		.executeTakeFirst();

export const insertExtraTime = (queries: Queries, time: Insertable<ExtraTimeTable>) =>
	queries.insertInto('extra_time').values(time).execute();

/** Whether this form has given its time. */
export const hasExtraTime = (queries: Queries, form: string): Promise<boolean> =>
	exists(queries.selectFrom('extra_time').select('id').where('form', '=', form));

export const hasTimeAfterEnd = (
	queries: Queries,
	{ id, ended_at: endedAt }: Pick<SessionRow, 'id' | 'ended_at'>
): Promise<boolean> =>
	exists(
		queries
			.selectFrom('extra_time')
			.select('id')
			.where('session_id', '=', id)
			.where('created_at', '>=', endedAt)
	);

/** Whether the payment that bought a session was not refunded. */
export const isStillPaid = (queries: Queries, { payment_id: id }: Pick<SessionRow, 'payment_id'>) =>
	exists(queries.selectFrom('payments').select('id').where('id', '=', id).where('status', '=', 'success'));

const extraSeconds = (queries: Queries) =>
	queries.selectFrom('extra_time').select(sql<number>`coalesce(sum(seconds), 0)`.as('sum'));

export const extraSecondsBy = async (queries: Queries, accountId: number, after: number): Promise<number> => {
	const given = extraSeconds(queries).where('account_id', '=', accountId).where('created_at', '>', after);
	return (await given.executeTakeFirstOrThrow()).sum;
};

/** Free time in a session, without what was given after its end: that does not move its end. */
export const extraTimeMs = async (
	queries: Queries,
	{ id, ended_at: endedAt }: Pick<SessionRow, 'id' | 'ended_at'>
): Promise<number> => {
	const given = extraSeconds(queries)
		.where('session_id', '=', id)
		.$if(endedAt !== null, (query) => query.where('created_at', '<', endedAt));
	return (await given.executeTakeFirstOrThrow()).sum * 1000;
};

/** Whether a payment for time at the router may still succeed. */
export const isPaying = (queries: Queries, routerId: number): Promise<boolean> =>
	exists(
		queries
			.selectFrom('sessions')
			.innerJoin('payments', 'payments.id', 'sessions.payment_id')
			.select('sessions.id')
			.where('sessions.router_id', '=', routerId)
			.where('sessions.status', '=', 'pending_payment')
			.where('payments.status', 'in', ['pending', 'expired'])
	);

/** Counts pending payments; `expiry` is the latest time limit of a payment that was not refused. */
export const openPayments = (queries: Queries, id: number) =>
	queries
		.selectFrom('payments')
		.select([
			sql<number>`coalesce(sum(case when status = 'pending' then 1 else 0 end), 0)`.as('pending'),
			sql<number | null>`max(case when status in ('expired', 'success') then expires_at end)`.as('expiry')
		])
		.where('session_id', '=', id)
		.executeTakeFirstOrThrow();

export type OwnerRow = Awaited<ReturnType<typeof runningOfOwner>>[number];

export interface Owner {
	accountId: number;
	now: number;
}

export interface Page {
	/** Start and id of the previous page's last session. */
	after: readonly [number, number] | null;
	limit: number;
}

const atOwner = (queries: Queries, accountId: number) =>
	queries
		.selectFrom('sessions')
		.innerJoin('routers', 'routers.id', 'sessions.router_id')
		.where('routers.owner_account_id', '=', accountId);

/** A session whose time is over does not run, even before its job has run. */
const running = (queries: Queries, { accountId, now }: Owner) =>
	atOwner(queries, accountId)
		.where('sessions.status', '=', 'active')
		// As an expression: SQLite would use the index of starts, which has the whole history.
		.where(sql<boolean>`coalesce(sessions.starts_at, 0) <= ${now}`)
		.where('sessions.expires_at', '>', now);

const latestStartFirst = (query: ReturnType<typeof atOwner>, { after, limit }: Page) =>
	query
		.$if(after !== null, (rest) =>
			rest.where(sql<boolean>`(sessions.starts_at, sessions.id) < (${after?.[0]}, ${after?.[1]})`)
		)
		.select([
			'sessions.id',
			'sessions.router_id',
			'routers.name as router_name',
			'sessions.status',
			'sessions.phone',
			'sessions.duration',
			'sessions.amount_minor',
			'sessions.currency',
			'sessions.ended_at',
			sql<number>`sessions.starts_at`.as('starts_at'),
			sql<number>`sessions.expires_at`.as('expires_at')
		])
		.orderBy('sessions.starts_at', 'desc')
		.orderBy('sessions.id', 'desc')
		.limit(limit)
		.execute();

export const runningOfOwner = (queries: Queries, owner: Owner, page: Page) =>
	latestStartFirst(running(queries, owner), page);

/**
 * Sessions that started in a span, in ms since the epoch: those that are over, or these and those that run. Added time
 * counts from its own start: until then the owner sees the session before it.
 */
export const begunOfOwner = (
	queries: Queries,
	{ accountId, now }: Owner,
	{ from, until, isOver, ...page }: Page & { from: number; until: number; isOver: boolean }
) =>
	latestStartFirst(
		atOwner(queries, accountId)
			.where('sessions.starts_at', '>=', from)
			.where('sessions.starts_at', '<', until)
			// As an expression: SQLite would use the index of states, which has no times.
			.where(sql<boolean>`coalesce(sessions.status, '') in ('active', 'expired', 'ended')`)
			.where(
				isOver
					? sql<boolean>`(sessions.status <> 'active' or sessions.expires_at <= ${now})`
					: sql<boolean>`(sessions.status <> 'active' or sessions.starts_at <= ${now})`
			),
		page
	);

export const countActiveOfOwner = (queries: Queries, owner: Owner) => countRows(running(queries, owner));

/** By state first, because its index has everything that most of the history needs. */
export async function countEndedOfOwner(queries: Queries, { accountId, now }: Owner): Promise<number> {
	const sessions = atOwner(queries, accountId);
	const ended = sessions.where('sessions.status', 'in', ['expired', 'ended']);
	const due = sessions.where('sessions.status', '=', 'active').where('sessions.expires_at', '<=', now);
	return (await countRows(ended)) + (await countRows(due));
}

/** The latest start before a time; null if there is none. Reads one row of each router. */
export async function latestStartOfOwner(
	queries: Queries,
	accountId: number,
	before: number
): Promise<number | null> {
	const { rows } = await sql<{ latest: number | null }>`
		select max(latest) as latest from (
			select (select starts_at from sessions where router_id = routers.id and starts_at < ${before}
				order by starts_at desc limit 1) as latest
			from routers where owner_account_id = ${accountId}
		) as latest_of_router`.execute(queries);
	return rows[0]?.latest ?? null;
}
