import type { Insertable, Selectable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { first, isChanged } from '#lib/server/db/first.ts';
import type { NotificationsTable } from '#lib/server/db/schema.ts';

export type NotificationRow = Selectable<NotificationsTable>;

/** Returns null if a notification with the key exists. */
export async function insert(
	queries: Queries,
	notification: Insertable<NotificationsTable>
): Promise<number | null> {
	const row = await queries
		.insertInto('notifications')
		.values(notification)
		.onConflict((conflict) => conflict.column('key').doNothing())
		.returning('id')
		.executeTakeFirst();
	return row?.id ?? null;
}

export const find = (queries: Queries, id: number) =>
	first(queries.selectFrom('notifications').selectAll().where('id', '=', id));

export const byKeys = (queries: Queries, keys: readonly string[]) =>
	queries.selectFrom('notifications').selectAll().where('key', 'in', keys).orderBy('id').execute();

/** Takes a notification that waits, or that a process left behind while it sent it. */
export const take = (queries: Queries, { id, status, tries }: NotificationRow) =>
	isChanged(
		queries
			.updateTable('notifications')
			.set({ status: 'sending', tries: tries + 1 })
			.where(({ and }) => and({ id, status, tries }))
	);

/** Not if another process has called it uncertain meanwhile. */
export const wait = (queries: Queries, id: number) =>
	queries
		.updateTable('notifications')
		.set({ status: 'queued' })
		.where(({ and }) => and({ id, status: 'sending' }))
		.execute();

export const finish = (queries: Queries, id: number, status: 'sent' | 'failed' | 'uncertain') =>
	queries.updateTable('notifications').set({ status, content_sealed: null }).where('id', '=', id).execute();

export const ofAccount = (
	queries: Queries,
	of: { accountId: number; channel: NotificationRow['channel'] },
	since: number
) =>
	queries
		.selectFrom('notifications')
		.select(['kind', 'status', 'price_minor', 'currency', 'created_at'])
		.where('account_id', '=', of.accountId)
		.where('channel', '=', of.channel)
		.where('created_at', '>=', since)
		.execute();

const MAX_DELETED = 1_000;

export const deleteOld = (queries: Queries, before: number) =>
	queries
		.deleteFrom('notifications')
		.where('id', 'in', (old) =>
			old
				.selectFrom('notifications')
				.select('id')
				.where('created_at', '<', before)
				.orderBy('created_at')
				.limit(MAX_DELETED)
		)
		.execute();
