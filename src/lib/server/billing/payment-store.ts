import {
	type ExpressionBuilder,
	type Insertable,
	type Selectable,
	type SqlBool,
	type UpdateObject,
	type Updateable,
	sql
} from 'kysely';
import type { Queries, Reads } from '#lib/server/db/database.ts';
import {
	type NewestFirst,
	countRows,
	exists,
	findById,
	findNewestFirst,
	first,
	isChanged,
	withoutNulls
} from '#lib/server/db/queries.ts';
import type { PaymentsTable, RefundsTable, Schema } from '#lib/server/db/schema.ts';

export type PaymentRow = Selectable<PaymentsTable>;
type PaymentStatus = PaymentRow['status'];
export type RefundRow = Selectable<RefundsTable>;

export const insert = (queries: Queries, payment: Insertable<PaymentsTable>) =>
	queries.insertInto('payments').values(payment).returningAll().executeTakeFirstOrThrow();

export const find = (queries: Reads, id: number) => findById(queries, 'payments', id);

export async function findOrThrow(queries: Reads, id: number): Promise<PaymentRow> {
	const payment = await find(queries, id);
	if (!payment) throw new Error(`Payment ${id} is gone`);
	return payment;
}

const ofOperator = (queries: Reads, operator: string) =>
	queries.selectFrom('payments').selectAll().where('operator', '=', operator);

export const findByReference = (queries: Queries, operator: string, reference: string) =>
	ofOperator(queries, operator).where('reference', '=', reference).executeTakeFirst();

export const ofSession = (queries: Queries, sessionId: number) =>
	queries.selectFrom('payments').selectAll().where('session_id', '=', sessionId).orderBy('id').execute();

interface Filters {
	status: PaymentStatus | undefined;
	/** The operator's id of the transaction. */
	transaction: string | undefined;
}

export function ofAccount(
	queries: Queries,
	accountId: number,
	{ status, transaction, ...page }: NewestFirst & Partial<Filters>
) {
	// The sign keeps SQLite, which has no statistics, from reading all payments of the account.
	const account = transaction === undefined ? sql.ref('account_id') : sql`+account_id`;
	return findNewestFirst(
		queries
			.selectFrom('payments')
			.selectAll()
			.where(sql<SqlBool>`${account} = ${accountId}`)
			.where(({ and }) => and(withoutNulls({ status, provider_reference: transaction }))),
		page
	);
}

/** Columns by which payments are counted as prompts. Without `network`, those of the pages and of the API. */
export type PromptScope = Partial<
	Pick<PaymentRow, 'phone' | 'account_id' | 'network' | 'network_56' | 'network_48' | 'device'>
>;

const prompts = (queries: Queries, scope: PromptScope, since: number) =>
	queries
		.selectFrom('payments')
		.where(({ and }) => and(scope))
		.where('created_at', '>', since);

/** Returns the times of prompts, from the oldest. */
export const promptTimes = async (queries: Queries, scope: PromptScope, since: number): Promise<number[]> => {
	const rows = await prompts(queries, scope, since).select('created_at').orderBy('created_at').execute();
	return rows.map(({ created_at: at }) => at);
};

export const hasPaid = (queries: Queries, scope: PromptScope, since: number): Promise<boolean> =>
	exists(prompts(queries, scope, since).select('id').where('paid_at', 'is not', null));

export const countPaidPrompts = (queries: Queries, scope: PromptScope, since: number): Promise<number> =>
	countRows(prompts(queries, scope, since).where('paid_at', 'is not', null));

/** True for a prompt that its payer could have paid. The operator's outages are not the buyers' doing. */
const unpaidByPayer = ({ and, eb, or }: ExpressionBuilder<Schema, 'payments'>) =>
	and([
		eb('paid_at', 'is', null),
		or([eb('failure_code', 'is', null), eb('failure_code', '<>', 'provider_unavailable')])
	]);

export const countUnpaidPrompts = (queries: Queries, scope: PromptScope, since: number): Promise<number> =>
	countRows(prompts(queries, scope, since).where(unpaidByPayer));

/** Returns the time of the unpaid prompt after so many older ones; null if there are fewer. */
export const unpaidPromptFrom = async (
	queries: Queries,
	scope: PromptScope,
	since: number,
	older: number
): Promise<number | null> => {
	const unpaid = prompts(queries, scope, since).where(unpaidByPayer).select('created_at');
	return (await first(unpaid.orderBy('created_at').offset(older)))?.created_at ?? null;
};

/** Sources that share a total: buyers of the pages, devices that a gateway redirected, and accounts of the API. */
export const PROMPT_POOLS = ['pages', 'devices', 'api'] as const;
export type PromptPool = (typeof PROMPT_POOLS)[number];

/** Returns the time of the unpaid prompt after so many newer ones; null if there are fewer. */
export async function newestUnpaidPrompt(
	queries: Queries,
	pool: PromptPool,
	since: number,
	newer: number
): Promise<number | null> {
	const unpaid = prompts(queries, {}, since).where(unpaidByPayer).select('created_at');
	// Each as a partial index has it.
	const ofPool = {
		pages: unpaid.where('network', 'is not', null).where('device', 'is', null),
		devices: unpaid.where('device', 'is not', null),
		api: unpaid.where('network', 'is', null)
	}[pool];
	return (await first(ofPool.orderBy('created_at', 'desc').offset(newer)))?.created_at ?? null;
}

/** Counts payments, of the API too, that bought time. */
export const countPaid = (queries: Queries, since: number): Promise<number> =>
	// A literal, so that SQLite uses the partial index payments_paid.
	countRows(
		queries
			.selectFrom('payments')
			.where(sql<boolean>`applied = 1`)
			.where('paid_at', '>', since)
	);

/** Changes a payment that is in one of the given states. Returns undefined if another change was faster. */
export const change = (
	queries: Queries,
	from: {
		id: number;
		status?: readonly PaymentStatus[];
		submit_state?: readonly PaymentRow['submit_state'][];
	},
	to: UpdateObject<Schema, 'payments'>
): Promise<PaymentRow | undefined> =>
	queries
		.updateTable('payments')
		.set(to)
		.where('id', '=', from.id)
		.where(({ and, eb }) =>
			and([
				...(from.status ? [eb('status', 'in', from.status)] : []),
				...(from.submit_state ? [eb('submit_state', 'in', from.submit_state)] : [])
			])
		)
		.returningAll()
		.executeTakeFirst();

/** Keeps the request that settled it. */
export const unlessNamed = (reference: string | null) =>
	sql<string | null>`coalesce(operator_reference, ${reference})`;

/** Stores a claim (CallbackClaim as JSON). Late or unordered callbacks never overwrite a claimed success. */
export const setClaim = (
	queries: Queries,
	table: 'payments' | 'refunds',
	id: number,
	{ claim, isSuccess }: { claim: string; isSuccess: boolean }
) =>
	queries
		.updateTable(table)
		.set({ claim })
		.where('id', '=', id)
		.where((where) =>
			isSuccess
				? where.or([where('claim', 'is', null), where('claim', 'not like', CLAIMED_SUCCESS)])
				: where('claim', 'is', null)
		)
		.execute();

const CLAIMED_SUCCESS = '%"claimed":"succeeded"%';

/** Only the references of a claimed success stay. */
export const denyClaim = (queries: Queries, id: number) =>
	queries
		.updateTable('payments')
		.set({ claim: sql`replace(claim, '"claimed":"succeeded"', '"claimed":"failed"')` })
		.where('id', '=', id)
		.execute();

export const addReceipt = (queries: Queries, id: number, transaction: string) =>
	queries
		.updateTable('payments')
		.set({ provider_reference: transaction })
		.where('id', '=', id)
		.where('provider_reference', 'is', null)
		.execute();

/** Notes that the amount which was asked for was taken. */
export const confirmAmount = (queries: Queries, { id, amount_minor, currency }: PaymentRow) =>
	queries
		.updateTable('payments')
		.set({ settled_minor: amount_minor, settled_currency: currency })
		.where('id', '=', id)
		.where('settled_minor', 'is', null)
		.execute();

/** Matches the operator's reference or the start of ours. Returns undefined unless exactly one matches. */
export async function findLikeStatement(
	queries: Queries,
	operator: string,
	row: { operatorReference: string; start: string | null }
): Promise<PaymentRow | undefined> {
	const rows = await ofOperator(queries, operator)
		.where((where) =>
			where.or([
				where('operator_reference', '=', row.operatorReference),
				...(row.start === null ? [] : [where('reference', 'like', `${row.start}%`)])
			])
		)
		.limit(2)
		.execute();
	return rows.length === 1 ? rows[0] : undefined;
}

export const findByTransaction = (queries: Queries, operator: string, transaction: string) =>
	ofOperator(queries, operator).where('provider_reference', '=', transaction).limit(1).executeTakeFirst();

type Known = Pick<PaymentRow, 'id' | 'operator'>;

const besides = (queries: Reads, { id, operator }: Known) =>
	ofOperator(queries, operator).where('id', '<>', id).limit(1);

/** Returns another payment of the same operator that a transaction has already paid. */
export const paidBefore = (queries: Reads, payment: Known, transaction: string) =>
	besides(queries, payment).where('provider_reference', '=', transaction).executeTakeFirst();

/** Returns another payment of the same operator that was sent with a request. */
export const sentAs = (queries: Reads, payment: Known, request: string) =>
	besides(queries, payment).where('operator_reference', '=', request).executeTakeFirst();

export const notInStatement = (queries: Queries, operator: string, paid: { from: number; to: number }) =>
	ofOperator(queries, operator)
		.where('paid_at', '>=', paid.from)
		.where('paid_at', '<', paid.to)
		.where('statement_at', 'is', null)
		.orderBy('id')
		.execute();

export const findRefundByReference = (queries: Queries, reference: string) =>
	queries.selectFrom('refunds').selectAll().where('reference', '=', reference).executeTakeFirst();

export const refundsOf = (queries: Queries, paymentId: number) =>
	queries.selectFrom('refunds').selectAll().where('payment_id', '=', paymentId).orderBy('id').execute();

export const insertRefund = (queries: Queries, refund: Insertable<RefundsTable>) =>
	queries.insertInto('refunds').values(refund).returningAll().executeTakeFirstOrThrow();

export const findRefund = (queries: Reads, id: number) => findById(queries, 'refunds', id);

/** Changes a pending refund. Returns false if it has left the given state. */
export const changeRefund = (
	queries: Queries,
	{
		id,
		...seen
	}: { id: number } & { [Field in 'submit_state' | 'submitted_at']?: RefundRow[Field] | undefined },
	to: Updateable<RefundsTable>
): Promise<boolean> =>
	isChanged(
		queries
			.updateTable('refunds')
			.set(to)
			.where(({ and }) => and({ id, status: 'pending', ...withoutNulls(seen) }))
	);
