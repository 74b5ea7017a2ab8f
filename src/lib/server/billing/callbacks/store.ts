import { sql, type Insertable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import { countOf, first } from '#lib/server/db/first.ts';
import type { OperatorMessagesTable } from '#lib/server/db/schema.ts';

export const messagesOf = (queries: Queries, paymentId: number) =>
	queries
		.selectFrom('operator_messages')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();

/** Messages with an outcome about the newest `most` payments, newest first. */
export const newestMessages = (
	queries: Queries,
	{ outcome, since, most }: { outcome: string; since: number; most: number }
) =>
	queries
		.selectFrom('operator_messages as message')
		.innerJoin('payments as payment', 'payment.id', 'message.payment_id')
		.select(['payment.operator', 'message.received_at', 'message.raw'])
		.where('payment.id', '>', (where) =>
			where
				.selectFrom('payments')
				.select(({ fn }) => sql<number>`${fn.coalesce(fn.max('id'), sql`0`)} - ${most}`.as('first'))
		)
		.where('message.outcome', '=', outcome)
		.where('message.received_at', '>', since)
		.orderBy('message.id', 'desc')
		.execute();

export async function insertMessage(queries: Queries, message: Insertable<OperatorMessagesTable>) {
	await queries.insertInto('operator_messages').values(message).execute();
}

export async function insertMessageBelow(
	queries: Queries,
	message: Insertable<OperatorMessagesTable>,
	most: number
): Promise<void> {
	const { payment_id, kind } = message;
	const ofKind = queries.selectFrom('operator_messages').where(({ and }) => and({ payment_id, kind }));
	if ((await countOf(ofKind)) < most) await insertMessage(queries, message);
}

const newestOfKind = (queries: Queries, payment_id: number, kind: OperatorMessagesTable['kind']) =>
	queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where(({ and }) => and({ payment_id, kind }))
		.orderBy('id', 'desc');

export const lastMessage = (...of: Parameters<typeof newestOfKind>) => first(newestOfKind(...of));

/** Returns the outcome of the last status read that the operator answered. */
export const lastStatusAnswer = (queries: Queries, paymentId: number) =>
	first(newestOfKind(queries, paymentId, 'status').where('outcome', '<>', 'unavailable'));
