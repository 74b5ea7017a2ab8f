import type { ApiClient } from '../api-client.ts';
import type { PaymentBody, RouterBody, SessionBody } from '#lib/server/api/contract/schemas.ts';
import type { Queries } from '#lib/server/db/database.ts';
import type { Ordering } from './ordering.ts';
import * as store from './store.ts';

/** What was ordered at once: a session, and all payments that were started for it. */
export interface PurchasePart {
	session: SessionBody;
	/** The payment that bought the session, else the newest one. */
	payment: PaymentBody | null;
	/** The other payments for it, newest first: some of their money may be on its way back. */
	otherPayments: PaymentBody[];
}

export interface PurchaseView extends PurchasePart {
	router: RouterBody;
	/** Time that was added to it, oldest first; only what somebody was asked to pay for. */
	added: PurchasePart[];
	/** Token of the purchase that was made in the place of this one. */
	successor: string | null;
	/** "K7MQ-29XT": opens this purchase on any device. */
	code: string;
}

/** Purchases in a row whose payments are still shown. */
const MAX_REPLACED = 5;
/** Orders of added time, newest first, that are always looked at, and how many older ones are read at once. */
export const MAX_ADDED = 12;

/** One purchase as the service tells it, without the time that was added. @returns null before it is ordered */
export async function partOf(
	db: Queries,
	api: ApiClient,
	row: store.PurchaseRow
): Promise<PurchasePart | null> {
	if (row.session_id === null) return null;
	const read = api.recent;
	const earlier = await replacedPayments(db, row);
	const noted = [...new Set([...store.paymentIds(row), ...earlier])];
	// Payments first: what they say decides whether the session has to be asked for again.
	const payments = await Promise.all(noted.map((id) => read.getPayment(id)));
	const session = await paidInstead(read, await read.getSession(row.session_id), payments);
	const bought = session.payment_id;
	if (bought !== null && !noted.includes(bought)) payments.push(await read.getPayment(bought));
	const own = [...store.paymentIds(row), bought];
	payments.sort((a, b) => b.id - a.id);
	const payment =
		payments.find(({ id }) => id === session.payment_id) ??
		payments.find(({ id }) => own.includes(id)) ??
		null;
	return { session, payment, otherPayments: payments.filter((other) => other !== payment) };
}

/**
 * The order that this one was to replace was paid after all, before it could be cancelled: that is what was bought.
 * @param payments of this order and of those that it replaced
 */
async function paidInstead(
	read: Pick<ApiClient, 'getSession'>,
	session: SessionBody,
	payments: readonly PaymentBody[]
): Promise<SessionBody> {
	if (session.status !== 'pending_payment' && session.status !== 'cancelled') return session;
	const paid = payments.find(({ applied, session_id }) => applied && session_id !== session.id);
	return paid ? read.getSession(paid.session_id) : session;
}

/**
 * Added time that somebody was asked to pay for, oldest first; what was replaced stands in what replaced it. Of a long
 * row the newest ones, and all whose time is not over: what runs now may be the oldest of them.
 */
export async function addedParts(
	db: Queries,
	api: ApiClient,
	ordering: Ordering,
	row: store.PurchaseRow
): Promise<PurchasePart[]> {
	const orders = await store.addedTo(db, row.id);
	const parts: PurchasePart[] = [];
	for (let from = 0; from < orders.length; from += MAX_ADDED) {
		const read = await Promise.all(
			orders
				.slice(from, from + MAX_ADDED)
				.map(async (one) => partOf(db, api, await ordering.adopted(api, one)))
		);
		parts.push(...read.filter((part) => part !== null).filter(({ payment }) => payment !== null));
		// They follow each other: before one that has run out nothing runs.
		if (read.some((part) => part?.session.status === 'expired')) break;
	}
	return parts.reverse();
}

/** Payments of the purchases that this one replaced. */
async function replacedPayments(db: Queries, row: store.PurchaseRow): Promise<number[]> {
	const ids: number[] = [];
	let replaced = row.replaces_session_id;
	for (let steps = 0; replaced !== null && steps < MAX_REPLACED; steps += 1) {
		const before = await store.findBySession(db, replaced);
		if (!before) break;
		ids.push(...store.paymentIds(before));
		replaced = before.replaces_session_id;
	}
	return ids;
}

/** The session at the end of the pass that a purchase has now; null when its time does not run. */
export function lastActive(parts: readonly PurchasePart[]): SessionBody | null {
	const active = parts.map(({ session }) => session).filter(({ status }) => status === 'active');
	return active.sort((a, b) => endOf(b) - endOf(a))[0] ?? null;
}

const endOf = ({ expires_at }: SessionBody) => Date.parse(expires_at ?? '');
