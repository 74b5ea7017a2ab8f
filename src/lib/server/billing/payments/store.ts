import type { Insertable, Selectable, Updateable } from 'kysely';
import type { Queries } from '#lib/server/db/database.ts';
import type { OperatorMessagesTable, PaymentsTable, RefundsTable } from '#lib/server/db/schema.ts';

export type PaymentRow = Selectable<PaymentsTable>;
export type PaymentStatus = PaymentRow['status'];
export type RefundRow = Selectable<RefundsTable>;

export async function insert(queries: Queries, payment: Insertable<PaymentsTable>): Promise<PaymentRow> {
	return queries.insertInto('payments').values(payment).returningAll().executeTakeFirstOrThrow();
}

export async function find(queries: Queries, id: number): Promise<PaymentRow | null> {
	if (!Number.isSafeInteger(id)) return null;
	const row = await queries.selectFrom('payments').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

export async function findByReference(
	queries: Queries,
	operator: string,
	reference: string
): Promise<PaymentRow | null> {
	const row = await queries
		.selectFrom('payments')
		.selectAll()
		.where('reference', '=', reference)
		.where('operator', '=', operator)
		.executeTakeFirst();
	return row ?? null;
}

export async function ofSession(queries: Queries, sessionId: number): Promise<PaymentRow[]> {
	return queries
		.selectFrom('payments')
		.selectAll()
		.where('session_id', '=', sessionId)
		.orderBy('id')
		.execute();
}

/** Lists the newest payments of an account, of one status or of all. */
export async function newestOfAccount(
	queries: Queries,
	accountId: number,
	search: { status: PaymentStatus | null; limit: number }
): Promise<PaymentRow[]> {
	return queries
		.selectFrom('payments')
		.selectAll()
		.where('account_id', '=', accountId)
		.$if(search.status !== null, (query) => query.where('status', '=', search.status))
		.orderBy('id', 'desc')
		.limit(search.limit)
		.execute();
}

export async function countPromptsSince(queries: Queries, phone: string, since: number): Promise<number> {
	const row = await queries
		.selectFrom('payments')
		.select((builder) => builder.fn.countAll<number>().as('count'))
		.where('phone', '=', phone)
		.where('created_at', '>', since)
		.executeTakeFirstOrThrow();
	return row.count;
}

/**
 * Changes a payment if its status is one of those given.
 * @returns the changed row, or null if another change was faster
 */
export async function change(
	queries: Queries,
	from: { id: number; status: readonly PaymentStatus[] },
	to: Updateable<PaymentsTable>
): Promise<PaymentRow | null> {
	const row = await queries
		.updateTable('payments')
		.set(to)
		.where('id', '=', from.id)
		.where('status', 'in', from.status)
		.returningAll()
		.executeTakeFirst();
	return row ?? null;
}

/**
 * Changes the state of the request to the operator, whatever the payment's status.
 * @returns false if it is no longer in one of the given states
 */
export async function changeSubmit(
	queries: Queries,
	from: { id: number; submitState: readonly PaymentRow['submit_state'][] },
	to: Updateable<PaymentsTable>
): Promise<boolean> {
	const result = await queries
		.updateTable('payments')
		.set(to)
		.where('id', '=', from.id)
		.where('submit_state', 'in', from.submitState)
		.executeTakeFirst();
	return result.numUpdatedRows > 0n;
}

export async function setNotFoundCount(queries: Queries, id: number, count: number): Promise<void> {
	await queries.updateTable('payments').set({ not_found_count: count }).where('id', '=', id).execute();
}

/**
 * Stores a callback's claim. A claimed success stays: late or unordered callbacks do not overwrite it.
 * @param claim CallbackClaim as JSON
 */
export async function setClaim(
	queries: Queries,
	table: 'payments' | 'refunds',
	id: number,
	{ claim, isSuccess }: { claim: string; isSuccess: boolean }
): Promise<void> {
	await queries
		.updateTable(table)
		.set({ claim })
		.where('id', '=', id)
		.where((where) =>
			isSuccess
				? where.or([where('claim', 'is', null), where('claim', 'not like', CLAIMED_SUCCESS)])
				: where('claim', 'is', null)
		)
		.execute();
}

const CLAIMED_SUCCESS = '%"claimed":"succeeded"%';

/** Adds the operator's transaction id if there is none. */
export async function noteReceipt(queries: Queries, id: number, transaction: string): Promise<void> {
	await queries
		.updateTable('payments')
		.set({ provider_reference: transaction })
		.where('id', '=', id)
		.where('provider_reference', 'is', null)
		.execute();
}

/** Finds a payment by the operator's reference or the beginning of ours; null unless exactly one matches. */
export async function findLikeStatement(
	queries: Queries,
	operator: string,
	row: { operatorReference: string; start: string | null }
): Promise<PaymentRow | null> {
	const rows = await queries
		.selectFrom('payments')
		.selectAll()
		.where('operator', '=', operator)
		.where((where) =>
			row.start === null
				? where('operator_reference', '=', row.operatorReference)
				: where.or([
						where('operator_reference', '=', row.operatorReference),
						where('reference', 'like', `${row.start}%`)
					])
		)
		.limit(2)
		.execute();
	return rows.length === 1 ? (rows[0] ?? null) : null;
}

export async function findByTransaction(
	queries: Queries,
	operator: string,
	transaction: string
): Promise<PaymentRow[]> {
	return queries
		.selectFrom('payments')
		.selectAll()
		.where('operator', '=', operator)
		.where('provider_reference', '=', transaction)
		.execute();
}

/** Payments of an operator in a span that no statement contained. */
export async function notInStatement(
	queries: Queries,
	operator: string,
	paid: { from: number; to: number }
): Promise<PaymentRow[]> {
	return queries
		.selectFrom('payments')
		.selectAll()
		.where('operator', '=', operator)
		.where('paid_at', '>=', paid.from)
		.where('paid_at', '<', paid.to)
		.where('statement_at', 'is', null)
		.orderBy('id')
		.execute();
}

export async function noteStatement(queries: Queries, id: number, at: number): Promise<void> {
	await queries.updateTable('payments').set({ statement_at: at }).where('id', '=', id).execute();
}

export async function findRefundByReference(queries: Queries, reference: string): Promise<RefundRow | null> {
	const row = await queries
		.selectFrom('refunds')
		.selectAll()
		.where('reference', '=', reference)
		.executeTakeFirst();
	return row ?? null;
}

export async function refundsOf(queries: Queries, paymentId: number): Promise<RefundRow[]> {
	return queries
		.selectFrom('refunds')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();
}

export async function messagesOf(
	queries: Queries,
	paymentId: number
): Promise<Selectable<OperatorMessagesTable>[]> {
	return queries
		.selectFrom('operator_messages')
		.selectAll()
		.where('payment_id', '=', paymentId)
		.orderBy('id')
		.execute();
}

export async function insertRefund(queries: Queries, refund: Insertable<RefundsTable>): Promise<RefundRow> {
	return queries.insertInto('refunds').values(refund).returningAll().executeTakeFirstOrThrow();
}

export async function findRefund(queries: Queries, id: number): Promise<RefundRow | null> {
	const row = await queries.selectFrom('refunds').selectAll().where('id', '=', id).executeTakeFirst();
	return row ?? null;
}

export async function changeRefund(
	queries: Queries,
	from: { id: number; status: RefundRow['status']; submitState?: readonly RefundRow['submit_state'][] },
	to: Updateable<RefundsTable>
): Promise<boolean> {
	const { submitState } = from;
	const result = await queries
		.updateTable('refunds')
		.set(to)
		.where('id', '=', from.id)
		.where('status', '=', from.status)
		.$if(submitState !== undefined, (query) => query.where('submit_state', 'in', submitState ?? []))
		.executeTakeFirst();
	return result.numUpdatedRows > 0n;
}

export async function insertMessage(
	queries: Queries,
	message: Insertable<OperatorMessagesTable>
): Promise<void> {
	await queries.insertInto('operator_messages').values(message).execute();
}

/** Inserts a message if the payment has fewer than `most` of its kind. */
export async function insertMessageBelow(
	queries: Queries,
	message: Insertable<OperatorMessagesTable>,
	most: number
): Promise<void> {
	const row = await queries
		.selectFrom('operator_messages')
		.select((builder) => builder.fn.countAll<number>().as('count'))
		.where('payment_id', '=', message.payment_id)
		.where('kind', '=', message.kind)
		.executeTakeFirstOrThrow();
	if (row.count < most) await insertMessage(queries, message);
}

/** The newest message of a kind. */
export async function lastOutcome(
	queries: Queries,
	paymentId: number,
	kind: OperatorMessagesTable['kind']
): Promise<string | null> {
	const row = await queries
		.selectFrom('operator_messages')
		.select('outcome')
		.where('payment_id', '=', paymentId)
		.where('kind', '=', kind)
		.orderBy('id', 'desc')
		.limit(1)
		.executeTakeFirst();
	return row?.outcome ?? null;
}
