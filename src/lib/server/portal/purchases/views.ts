import type { ApiClient } from '../api-client.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { RouterBody } from '#lib/server/contract/router.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import type { Queries } from '#lib/server/db/database.ts';
import * as store from './store.ts';

/** `isExtra`: its own time has ended, and extra time runs until `expires_at`. */
export type ShownSession = SessionBody & { isExtra?: boolean };

/** Reads a session during extra time after its end; null without such time. */
export type ReadExtended = (id: number) => Promise<SessionBody | null>;

export interface PurchasePart {
	session: ShownSession;
	/** The payment that bought the session, otherwise the newest one. */
	payment: PaymentBody | null;
	/** Newest first; some may be refunded. */
	otherPayments: PaymentBody[];
}

export interface PurchaseView extends PurchasePart {
	router: RouterBody;
	/** Orders of added time with a payment, oldest first. */
	added: PurchasePart[];
	/** Token of the purchase that replaced this one. */
	successor: string | null;
	code: string;
}

const MAX_REPLACED = 5;
export const MAX_ADDED = 12;

export async function partOf(
	db: Queries,
	api: ApiClient,
	row: store.PurchaseRow
): Promise<PurchasePart | null> {
	if (row.session_id === null) return null;
	const read = api.recent;
	const earlier = await replacedPayments(db, row);
	const noted = [...new Set([...store.paymentIds(row), ...earlier])];
	// Payments first: a changed payment removes its session from the memory of the API client (api-memory.ts).
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

/** Returns the replaced session if it was paid before it could be cancelled, otherwise `session`. */
async function paidInstead(
	read: Pick<ApiClient, 'getSession'>,
	session: SessionBody,
	payments: readonly PaymentBody[]
): Promise<SessionBody> {
	if (session.status !== 'pending_payment' && session.status !== 'cancelled') return session;
	const paid = payments.find(({ applied, session_id }) => applied && session_id !== session.id);
	return paid ? read.getSession(paid.session_id) : session;
}

/** Reads the newest orders and all that have not ended, oldest first: the active one may be the oldest. */
export async function addedParts(
	db: Queries,
	api: ApiClient,
	row: store.PurchaseRow
): Promise<PurchasePart[]> {
	const orders = await store.addedTo(db, row.id);
	const parts: PurchasePart[] = [];
	for (let from = 0; from < orders.length; from += MAX_ADDED) {
		const read = await Promise.all(orders.slice(from, from + MAX_ADDED).map((one) => partOf(db, api, one)));
		parts.push(...read.filter((part) => part !== null).filter(({ payment }) => payment !== null));
		// Passes follow each other, so nothing before an expired one is active.
		if (read.some((part) => part?.session.status === 'expired')) break;
	}
	return parts.reverse();
}

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

export function lastActive(parts: readonly PurchasePart[]): SessionBody | null {
	const active = parts.map(({ session }) => session).filter(({ status }) => status === 'active');
	return active.sort((a, b) => endOf(b) - endOf(a))[0] ?? null;
}

/** Reads a session as pages show it. */
export async function shownSession(readExtended: ReadExtended, session: SessionBody): Promise<ShownSession> {
	const extended = session.status === 'expired' ? await readExtended(session.id) : null;
	return extended ? { ...extended, isExtra: true } : session;
}

const endOf = ({ expires_at }: SessionBody) => Date.parse(expires_at ?? '');
