import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { countOf, first, isChanged } from '#lib/server/db/first.ts';
import type { MessagesTable } from '#lib/server/db/schema.ts';

export type MessageRow = Selectable<MessagesTable>;

/** Returns null if a message with the key exists. */
export async function insert(queries: Queries, message: Insertable<MessagesTable>): Promise<number | null> {
	const row = await queries
		.insertInto('messages')
		.values(message)
		.onConflict((conflict) => conflict.column('key').doNothing())
		.returning('id')
		.executeTakeFirst();
	return row?.id ?? null;
}

export const find = (queries: Queries, id: number) =>
	first(queries.selectFrom('messages').selectAll().where('id', '=', id));

export const byKeys = (queries: Queries, keys: readonly string[]) =>
	queries.selectFrom('messages').selectAll().where('key', 'in', keys).orderBy('id').execute();

/** Takes a message that waits, or that a process left behind while it sent it. */
export const take = (queries: Queries, { id, status, tries }: MessageRow) =>
	isChanged(
		queries
			.updateTable('messages')
			.set({ status: 'sending', tries: tries + 1 })
			.where(({ and }) => and({ id, status, tries }))
	);

export const wait = (queries: Queries, id: number) =>
	queries.updateTable('messages').set({ status: 'queued' }).where('id', '=', id).execute();

export const finish = (queries: Queries, id: number, status: 'sent' | 'failed' | 'uncertain') =>
	queries.updateTable('messages').set({ status, content_sealed: null }).where('id', '=', id).execute();

export const ofAccount = (
	queries: Queries,
	of: { accountId: number; channel: MessageRow['channel'] },
	since: number
) =>
	queries
		.selectFrom('messages')
		.select(['kind', 'status', 'price_minor', 'currency', 'created_at'])
		.where('account_id', '=', of.accountId)
		.where('channel', '=', of.channel)
		.where('created_at', '>=', since)
		.execute();

export const countTo = (queries: Queries, address: string, since: number): Promise<number> =>
	countOf(queries.selectFrom('messages').where('address', '=', address).where('created_at', '>=', since));

const MAX_DELETED = 1_000;

export const deleteOld = (queries: Queries, before: number) =>
	queries
		.deleteFrom('messages')
		.where('id', 'in', (old) =>
			old
				.selectFrom('messages')
				.select('id')
				.where('created_at', '<', before)
				.orderBy('created_at')
				.limit(MAX_DELETED)
		)
		.execute();
