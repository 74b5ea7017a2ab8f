import { sql, type RawBuilder } from 'kysely';
import { DELETED_NUMBER } from '#lib/domain/phone.ts';
import { DAY_MS } from '#lib/domain/time/time.ts';
import type { Database, Queries } from '#lib/server/db/database.ts';

/** Rows per statement, which keeps it short. */
const MAX_ROWS = 1_000;
/** Per transaction, each with its payments. */
const MAX_SESSIONS = 200;

/** For released device slots: time at a router is sold for at most 30 days. */
const RELEASED_DAYS = 32;
/** A repeated request gets its stored answer for this long (idempotency/). */
const ANSWER_DAYS = 1;

/** @returns whether more may be left */
export async function deleteDevices(queries: Queries, now: number, keepDays: number): Promise<boolean> {
	const daysAgo = (days: number) => now - days * DAY_MS;
	const before = daysAgo(keepDays);
	const textOf = (at: number) => new Date(at).toISOString();
	await sql`delete from idempotent_answers where created_at < ${daysAgo(ANSWER_DAYS)}`.execute(queries);
	const isNotExpected = sql`(expected_until is null or expected_until < ${before})`;
	const isOver = sql`state in ('revoked', 'failed')`;
	const old: readonly Old[] = [
		{ table: 'connections', column: 'seen_at', before },
		{ table: 'sign_in_sessions', column: 'expires_at', before: textOf(now) },
		{ table: 'captive_sessions', column: 'expires_at', before: now },
		{ table: 'device_slots', column: 'released_at', before: daysAgo(RELEASED_DAYS) },
		{ table: 'device_slots', column: 'reported_at', before, condition: isNotExpected },
		{ table: 'grants', column: 'updated_at', before, condition: isOver }
	];
	let isLeft = false;
	for (const rows of old) isLeft = (await deleteOldest(queries, rows)) || isLeft;
	return isLeft;
}

interface Old {
	table: string;
	column: string;
	before: number | string;
	condition?: RawBuilder<unknown>;
}

async function deleteOldest(
	queries: Queries,
	{ table, column, before, condition = sql`true` }: Old
): Promise<boolean> {
	const { numAffectedRows = 0n } = await sql`
		delete from ${sql.table(table)} where id in (select id from ${sql.table(table)}
			where ${sql.ref(column)} < ${before} and ${condition} order by ${sql.ref(column)} limit ${MAX_ROWS})`.execute(
		queries
	);
	return numAffectedRows >= MAX_ROWS;
}

// A literal, so that both databases use the partial indexes.
const WITH_NUMBER = sql<boolean>`phone <> ${sql.lit(DELETED_NUMBER)}`;

/** Finds ended sessions without a review of their money. */
const oldSessions = (queries: Queries, before: number) =>
	queries
		.selectFrom('sessions')
		.select('id')
		.where(WITH_NUMBER)
		.where('created_at', '<', before)
		.where('updated_at', '<', before)
		.where('status', 'in', ['expired', 'ended', 'cancelled'])
		.where(
			sql<boolean>`not exists (select 1 from payments where payments.session_id = sessions.id and (
				payments.status in ('pending', 'refund_pending', 'refund_failed') or payments.updated_at >= ${before}
				or exists (select 1 from reviews where payment_id = payments.id and resolved_at is null)))`
		)
		.orderBy('created_at')
		.limit(MAX_SESSIONS)
		.execute();

/**
 * Deletes the payer's numbers of sessions and their payments, with everything else that leads to the payer.
 * @returns whether more may be left
 */
export async function deleteNumbersOfSessions(database: Database, before: number): Promise<boolean> {
	// Read first: a transaction of each run would delay writers on SQLite.
	if ((await oldSessions(database.db, before)).length === 0) return false;
	return database.transact(async (trx) => {
		const ids = (await oldSessions(trx, before)).map(({ id }) => id);
		if (ids.length === 0) return false;
		const payments = trx.selectFrom('payments').select('id').where('session_id', 'in', ids);
		await trx.deleteFrom('operator_messages').where('payment_id', 'in', payments).execute();
		await trx
			.updateTable('payments')
			.set({ phone: DELETED_NUMBER, network: null })
			.where('session_id', 'in', ids)
			.execute();
		await trx.updateTable('sessions').set({ phone: DELETED_NUMBER }).where('id', 'in', ids).execute();
		return ids.length >= MAX_SESSIONS;
	});
}

/** @returns whether more may be left */
export async function deleteNumbersOfPurchases(queries: Queries, before: number): Promise<boolean> {
	const old = queries
		.selectFrom('purchases')
		.select('id')
		.where(WITH_NUMBER)
		.where('created_at', '<', before)
		.where('updated_at', '<', before)
		.orderBy('created_at')
		.limit(MAX_ROWS);
	const { numUpdatedRows } = await queries
		.updateTable('purchases')
		.set({ phone: DELETED_NUMBER, number_hash: null, asked_from: null })
		.where('id', 'in', old)
		.executeTakeFirstOrThrow();
	return numUpdatedRows >= MAX_ROWS;
}
