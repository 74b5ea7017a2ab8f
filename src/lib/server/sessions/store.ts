import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries } from '../db/database.ts';
import type { SessionsTable } from '../db/schema.ts';

export type SessionRow = Selectable<SessionsTable>;
export type SessionStatus = SessionRow['status'];

export async function insert(queries: Queries, session: Insertable<SessionsTable>): Promise<SessionRow> {
	return queries.insertInto('sessions').values(session).returningAll().executeTakeFirstOrThrow();
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
