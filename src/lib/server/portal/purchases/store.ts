import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Database, Queries } from '#lib/server/db/database.ts';
import type { PurchasesTable } from '#lib/server/db/schema.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

const idList = z.array(z.int());

/** Payments that were started for a purchase, oldest first. */
export const paymentIds = (row: PurchaseRow): number[] => idList.parse(JSON.parse(row.payment_ids));

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

/** The purchase that a session was made for. */
export async function findBySession(queries: Queries, sessionId: number): Promise<PurchaseRow | null> {
	const row = await queries
		.selectFrom('purchases')
		.selectAll()
		.where('session_id', '=', sessionId)
		.executeTakeFirst();
	return row ?? null;
}

/** More rows of one purchase than anybody looks through. */
const MAX_ROWS = 200;
/** Orders that no payment is known of are looked at so far back: an answer may have been lost. */
const MAX_UNASKED = 3;

/**
 * Orders of time that was to be added to a purchase, newest first, without those that another one replaced: `limit` of
 * those that somebody was asked to pay for, however many came to nothing after them, and the last few others.
 */
export async function addedTo(queries: Queries, id: number, limit = MAX_ROWS): Promise<PurchaseRow[]> {
	const rows = await queries
		.selectFrom('purchases')
		.selectAll()
		.where('extends_purchase_id', '=', id)
		.orderBy('id', 'desc')
		.limit(MAX_ROWS)
		.execute();
	const replaced = new Set(rows.map(({ replaces_session_id }) => replaces_session_id));
	const left = { asked: limit, unasked: MAX_UNASKED };
	return rows.filter((row) => {
		if (row.session_id === null || replaced.has(row.session_id)) return false;
		const kind = paymentIds(row).length > 0 ? 'asked' : 'unasked';
		left[kind] -= 1;
		return left[kind] >= 0;
	});
}

/** A purchase that has changed since `since`, by the hash of its code. */
export async function findByCode(
	queries: Queries,
	codeHash: string,
	since: number
): Promise<PurchaseRow | null> {
	const row = await queries
		.selectFrom('purchases')
		.selectAll()
		.where('code_hash', '=', codeHash)
		.where('updated_at', '>=', since)
		.executeTakeFirst();
	return row ?? null;
}

/** @throws a unique violation when another purchase has the code */
export async function setCode(
	queries: Queries,
	id: number,
	code: Pick<PurchaseRow, 'code_hash' | 'token_sealed'>
): Promise<void> {
	await queries.updateTable('purchases').set(code).where('id', '=', id).execute();
}

/** Notes that something happened to a purchase. */
export async function touch(queries: Queries, id: number, now: number): Promise<void> {
	await queries.updateTable('purchases').set({ updated_at: now }).where('id', '=', id).execute();
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

/** Notes a payment of the purchase; one that is noted already stays where it is. */
export async function addPayment(
	database: Database,
	id: number,
	paymentId: number,
	now: number
): Promise<PurchaseRow> {
	return database.transact(async (trx) => {
		const row = await trx.selectFrom('purchases').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
		const ids = paymentIds(row);
		if (ids.includes(paymentId)) return row;
		return trx
			.updateTable('purchases')
			.set({ payment_ids: JSON.stringify([...ids, paymentId]), updated_at: now })
			.where('id', '=', id)
			.returningAll()
			.executeTakeFirstOrThrow();
	});
}

/** Forgets an order for which no payment was started. */
export async function removeUnpaid(queries: Queries, id: number): Promise<void> {
	await queries.deleteFrom('purchases').where('id', '=', id).where('payment_ids', '=', '[]').execute();
}
