import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '../db/database.ts';
import type { PurchasesTable } from '../db/schema.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

/** Inserts a purchase unless its token is there. @returns null when it is */
export async function insert(
	queries: Queries,
	purchase: Insertable<PurchasesTable>
): Promise<PurchaseRow | null> {
	const row = await queries
		.insertInto('purchases')
		.values(purchase)
		.onConflict((conflict) => conflict.column('token_hash').doNothing())
		.returningAll()
		.executeTakeFirst();
	return row ?? null;
}

export async function find(queries: Queries, tokenHash: string): Promise<PurchaseRow | null> {
	const row = await queries
		.selectFrom('purchases')
		.selectAll()
		.where('token_hash', '=', tokenHash)
		.executeTakeFirst();
	return row ?? null;
}

/** Notes the session once; a second one loses. @returns the row as it is then */
export async function setSession(
	queries: Queries,
	id: number,
	sessionId: number,
	now: number
): Promise<PurchaseRow> {
	await queries
		.updateTable('purchases')
		.set({ session_id: sessionId, updated_at: now })
		.where('id', '=', id)
		.where('session_id', 'is', null)
		.execute();
	return queries.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
}

export async function setPayment(
	queries: Queries,
	id: number,
	payment: { id: number; phone: string },
	now: number
): Promise<PurchaseRow> {
	return queries
		.updateTable('purchases')
		.set({ payment_id: payment.id, phone: payment.phone, updated_at: now })
		.where('id', '=', id)
		.returningAll()
		.executeTakeFirstOrThrow();
}

/** Forgets an order for which no payment was started. */
export async function removeUnpaid(queries: Queries, id: number): Promise<void> {
	await queries.deleteFrom('purchases').where('id', '=', id).where('payment_id', 'is', null).execute();
}
