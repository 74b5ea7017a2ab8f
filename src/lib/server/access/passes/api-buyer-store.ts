import type { Queries } from '#lib/server/db/database.ts';
import type { SessionRow } from '#lib/server/billing/sessions/sessions.ts';

/** Notes the purchase by which visits are bound to a pass that was bought elsewhere; once. */
export async function addGuestPurchase(
	queries: Queries,
	tokenHash: string,
	session: SessionRow,
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

/** The session that a purchase has bought. */
export async function sessionOfPurchase(queries: Queries, tokenHash: string): Promise<number | null> {
	const row = await queries
		.selectFrom('purchases')
		.select('session_id')
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	return row?.session_id ?? null;
}
