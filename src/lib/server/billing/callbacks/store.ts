import { sql, type Insertable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
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
	const { count } = await queries
		.selectFrom('operator_messages')
		.select((builder) => builder.fn.countAll<number>().as('count'))
		.where('payment_id', '=', message.payment_id)
		.where('kind', '=', message.kind)
		.executeTakeFirstOrThrow();
	if (count < most) await insertMessage(queries, message);
}

export const lastMessage = (queries: Queries, paymentId: number, kind: OperatorMessagesTable['kind']) =>
	queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where('payment_id', '=', paymentId)
		.where('kind', '=', kind)
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
