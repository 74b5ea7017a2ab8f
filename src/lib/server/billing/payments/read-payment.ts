import { DAY_MS } from '#lib/domain/time/time.ts';
import type { PaymentBody } from '#lib/server/contract/schemas.ts';
import type { Caller } from '#lib/server/accounts/accounts.ts';
import { AppError } from '#lib/server/platform/errors.ts';
import { MERCHANT_ERROR, newestMessages } from '../callbacks/messages.ts';
import { paymentBody } from './body.ts';
import type { BillingContext } from '../context.ts';
import * as store from './store.ts';

/** Waiting requests at a time; further ones get their response at once, and the client polls. */
const MAX_WAITING = 1_000;
/** Poll interval on PostgreSQL, where other processes may change the payment. */
const READ_SHARED_MS = 250;
const READ_MS = 2_000;

async function find({ database }: BillingContext, caller: Caller, id: number): Promise<store.PaymentRow> {
	const row = await store.find(database.db, id);
	if (!row || (row.account_id !== caller.accountId && caller.role !== 'admin')) {
		throw new AppError('payment_not_found', 'There is no payment with this id.');
	}
	return row;
}

/** Returns the payment, or waits up to `wait.seconds` while it is pending. @throws `payment_not_found` */
export async function readPayment(
	context: BillingContext,
	caller: Caller,
	id: number,
	wait?: { seconds: number; signal: AbortSignal }
): Promise<PaymentBody> {
	const { database, changes } = context;
	let row = await find(context, caller, id);
	if (!wait || changes.waiting >= MAX_WAITING) return paymentBody(row);
	const until = performance.now() + wait.seconds * 1000;
	const interval = database.kind === 'postgres' ? READ_SHARED_MS : READ_MS;
	while (row.status === 'pending' && !wait.signal.aborted && !changes.stopped) {
		const left = until - performance.now();
		if (left <= 0) break;
		await changes.next(id, Math.min(left, interval), wait.signal);
		row = await find(context, caller, id);
	}
	return paymentBody(row);
}

export async function listPayments(
	{ database }: BillingContext,
	{ accountId }: Pick<Caller, 'accountId'>,
	search: Parameters<typeof store.ofAccount>[2]
) {
	const { rows, next } = await store.ofAccount(database.db, accountId, search);
	return { data: rows.map(paymentBody), next };
}

/** Lists the newest payments, pending ones first, with our references at the operator. */
export async function newestPayments({ database }: BillingContext, accountId: number, limit: number) {
	const newest = { after: null, limit };
	const pending = await store.ofAccount(database.db, accountId, { ...newest, status: 'pending' });
	const all = await store.ofAccount(database.db, accountId, newest);
	const rows = new Map([...pending.rows, ...all.rows].map((row) => [row.id, row]));
	return [...rows.values()]
		.slice(0, limit)
		.map((row) => ({ reference: row.reference, payment: paymentBody(row) }));
}

/** Limits the count, because messages have no index by time. */
const COUNTED_PAYMENTS = 5_000;

/** Returns what operators said of our accounts in the last 24 hours, newest first. */
export const merchantErrors = ({ database, clock }: BillingContext) =>
	newestMessages(database.db, {
		outcome: MERCHANT_ERROR,
		since: clock.now() - DAY_MS,
		most: COUNTED_PAYMENTS
	});
