import type { Insertable, Selectable } from 'kysely';
import { z } from 'zod';
import type { Database, Queries } from '#lib/server/db/database.ts';
import { first } from '#lib/server/db/queries.ts';
import type { PurchasesTable } from '#lib/server/db/schema.ts';

export type PurchaseRow = Selectable<PurchasesTable>;

const all = (queries: Queries) => queries.selectFrom('purchases').selectAll();

const idList = z.array(z.int());

/** Ids of the started payments, oldest first. */
export const paymentIds = (row: PurchaseRow): number[] => idList.parse(JSON.parse(row.payment_ids));

/** @throws a unique violation when another purchase has the token or the code */
export const insert = (queries: Queries, purchase: Insertable<PurchasesTable>) =>
	queries.insertInto('purchases').values(purchase).returningAll().executeTakeFirstOrThrow();

export const find = (queries: Queries, tokenHash: string) =>
	first(all(queries).where('token_hash', '=', tokenHash));

/** Finds the first: a buyer who signs in with a username adds another (passes/api-buyers.ts). */
export const findBySession = (queries: Queries, sessionId: number) =>
	first(all(queries).where('session_id', '=', sessionId).orderBy('id'));

export const findById = (queries: Queries, id: number) => first(all(queries).where('id', '=', id));

/** Lists the orders of a number at a router that changed since, newest first. */
export const recentOfNumber = (queries: Queries, numberHash: string, since: number) =>
	all(queries)
		.where('number_hash', '=', numberHash)
		.where('updated_at', '>=', since)
		.orderBy('id', 'desc')
		.execute();

export const findByCode = (queries: Queries, codeHashes: readonly string[], since: number) =>
	first(all(queries).where('code_hash', 'in', codeHashes).where('updated_at', '>=', since));

const MAX_ROWS = 200;
/** Orders to read without a known payment, because an answer may have been lost. */
const MAX_UNASKED = 3;

/** Lists orders of added time that were not replaced, newest first. Reads up to `limit` with a payment. */
export async function addedTo(queries: Queries, id: number, limit = MAX_ROWS): Promise<PurchaseRow[]> {
	const rows = await all(queries)
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

/** @throws a unique violation when another purchase has the code */
export async function update(
	queries: Queries,
	id: number,
	changes: Partial<
		Pick<PurchaseRow, 'code_hash' | 'token_sealed' | 'number_hash' | 'asked_from' | 'updated_at'>
	>
): Promise<void> {
	await queries.updateTable('purchases').set(changes).where('id', '=', id).execute();
}

/** Sets the session unless one is set. Returns the row afterwards. */
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
	return all(queries).where('id', '=', id).executeTakeFirstOrThrow();
}

export async function addPayment(
	database: Database,
	id: number,
	paymentId: number,
	now: number
): Promise<PurchaseRow> {
	return database.transact(async (trx) => {
		const row = await all(trx).where('id', '=', id).executeTakeFirstOrThrow();
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

/** Deletes a purchase without payments, unless another process has set its session meanwhile. */
export async function removeUnpaid(
	queries: Queries,
	{ id, session_id }: Pick<PurchaseRow, 'id' | 'session_id'>
): Promise<void> {
	await queries
		.deleteFrom('purchases')
		.where('id', '=', id)
		.where('payment_ids', '=', '[]')
		.where('session_id', session_id === null ? 'is' : '=', session_id)
		.execute();
}
