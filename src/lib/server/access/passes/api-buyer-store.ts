import type { Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { SessionsTable } from '#lib/server/db/schema.ts';

/** The session that lengthened a pass last, or began it. */
export async function newestSessionOf(
	queries: Queries,
	passId: number
): Promise<Selectable<SessionsTable> | null> {
	const row = await queries
		.selectFrom('sessions')
		.selectAll()
		.where('pass_id', '=', passId)
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row ?? null;
}

/** Creates the purchase that binds captive sessions to a pass bought through the API, once. */
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

/** The session that a purchase bought. */
export async function sessionOfPurchase(queries: Queries, tokenHash: string): Promise<number | null> {
	const row = await queries
		.selectFrom('purchases')
		.select('session_id')
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	return row?.session_id ?? null;
}
