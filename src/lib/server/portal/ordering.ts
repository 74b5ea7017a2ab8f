import { lockName } from '#lib/server/db/locks.ts';
import { toMajor, toMinor } from '#lib/domain/money.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { HOUR_MS, MINUTE_MS } from '#lib/domain/time.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import type { Tx } from '#lib/server/db/database.ts';
import { insertRow, retryUniqueViolation } from '#lib/server/db/queries.ts';
import { isApiBuyer } from '#lib/server/passes.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken, sha256 } from '#lib/server/platform/secrets.ts';
import type { Schema } from '#lib/server/db/schema.ts';
import type { Insertable } from 'kysely';
import { Refused, Unavailable } from '../platform/errors.ts';
import type { ApiClient } from './api-client.ts';
import {
	CODE_ATTEMPTS,
	deleteUnpaidRow,
	deriveSuccessorToken,
	deriveToken,
	findLastActive,
	findRow,
	findRowById,
	findRowsOfNumber,
	isUndecided,
	loadRow,
	makeCode,
	openToken,
	parsePaymentIds,
	readAddedParts,
	readAfterWait,
	readPart,
	readView,
	storePayment,
	storeSession,
	type PurchasePart,
	type PurchaseRow,
	type PurchaseView,
	type Purchases,
	updateRow
} from './purchases.ts';

/**
 * Orders of time. The token comes with the form, so a form that is sent twice is one purchase. Missing steps are
 * completed and never repeated.
 */

export interface PurchaseForm {
	routerId: number;
	duration: string;
	/** null for time at the hourly price. */
	offerId: number | null;
	paymentMethod: string;
	phone: string;
	/** The price the buyer saw, in major units: nothing else is charged. */
	amount: number;
	currency: string;
}

interface Relation {
	/** The unpaid session that it replaces; cancelled before the new payment starts. */
	replaces?: number | null;
	/** The token names one purchase, even if the form differs. */
	keepsToken?: boolean;
	/** The purchase whose page shows it, and the session to extend (null if its pass has ended). */
	adds?: { purchaseId: number; sessionId: number | null };
	/** The purchase that is paid again, and the token of its page. */
	repeats?: { purchaseId: number; token: string };
}

/** Why an order is refused here, beside the codes of the API. */
const ORDER_REASONS = {
	price_changed: 'The price has changed since it was shown',
	paid_meanwhile: 'The session to replace was paid meanwhile',
	/** Must be shown first: `earlierOrderIn`. */
	ordered_before: 'An earlier order of this number is unpaid or was paid a moment ago'
};
type OrderReason = keyof typeof ORDER_REASONS;

/** Nothing was charged. */
const refuseOrder = (reason: OrderReason, extensions: Record<string, unknown> = {}) =>
	new Refused<string>(reason, ORDER_REASONS[reason], { extensions });

const isRefusedFor = (error: unknown, reason: OrderReason): boolean =>
	error instanceof Refused && error.reason === reason;

export const isPriceChanged = (error: unknown): boolean => isRefusedFor(error, 'price_changed');

/** Returns the earlier order that must be shown first, if that is why an order was refused. */
export const earlierOrderIn = (error: unknown): EarlierOrder | null =>
	error instanceof Refused && isRefusedFor(error, 'ordered_before')
		? (error.extensions.earlier as EarlierOrder)
		: null;

/** The API refused the request. */
export const isRefusedByApi = (error: unknown): error is Refused<string> =>
	error instanceof Refused && !Object.hasOwn(ORDER_REASONS, error.reason);

/** Completes an interrupted order if the buyer returns this soon. A later charge would surprise them. */
const COMPLETE_WITHIN_MS = 2 * MINUTE_MS;

/** Completes the purchase if it was interrupted. Waits up to `waitSeconds` for a pending payment. */
export async function continuePurchase(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	waitSeconds = 0
): Promise<PurchaseView | null> {
	const row = await loadRow(purchases, token);
	if (!row) return null;
	if (parsePaymentIds(row).length > 0) return readAfterWait(purchases, api, token, row, waitSeconds);
	if (purchases.clock.now() - row.created_at >= COMPLETE_WITHIN_MS)
		return readView(purchases, api, token, row);
	try {
		await completeOrder(purchases, api, row);
	} catch (error) {
		// The page shows the purchase as it is, with a retry or with the payment that succeeded instead.
		if (!(error instanceof Refused)) throw error;
	}
	return readView(purchases, api, token, (await findRow(purchases.database.db, row.token_hash)) ?? row);
}

/**
 * Places an order, or continues the purchase that the same form began.
 * @param orderer is shown an earlier order first; without one nobody is asked
 * @returns the token of the purchase's page
 * @throws Refused with a code of the API or an OrderReason. Then nothing is kept or charged.
 */
export async function buyTime(
	purchases: Purchases,
	api: ApiClient,
	givenToken: string,
	form: PurchaseForm,
	orderer: Orderer | null = null,
	relation: Relation = {}
): Promise<string> {
	const { db } = purchases.database;
	const { token, row } = await beginOrder(purchases, api, givenToken, form, orderer, relation);
	try {
		await completeOrder(purchases, api, row);
	} catch (error) {
		const mayGoOn = error instanceof Unavailable || isInUse(error);
		// The replaced purchase is already cancelled, so this one's page continues.
		const continues = mayGoOn || (isRefusedByApi(error) && relation.keepsToken);
		if (continues && (await findRow(db, row.token_hash))?.session_id != null) return token;
		// A refusal started no payment. After any other failure one may exist. The row then stays, because
		// the same form must use the same keys.
		if (isRefusal(error)) await deleteUnpaidRow(db, row);
		throw isInUse(error) ? new Unavailable('the same order is being placed', { cause: error }) : error;
	}
	return token;
}

async function beginOrder(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	form: PurchaseForm,
	orderer: Orderer | null,
	relation: Relation
): Promise<{ token: string; row: PurchaseRow }> {
	const now = purchases.clock.now();
	const amount = toMinor(form.amount, form.currency);
	if (amount === null) throw refuseOrder('price_changed');
	const { replaces = null, keepsToken = false, adds } = relation;
	const order = {
		router_id: form.routerId,
		duration: form.duration,
		offer_id: form.offerId,
		payment_method: form.paymentMethod,
		// PostgreSQL cannot store NUL; the API refuses such a number anyway.
		phone: form.phone.replaceAll('\0', ''),
		amount_minor: amount,
		currency: form.currency
	};
	const values = {
		...order,
		replaces_session_id: replaces,
		...(adds && { extends_purchase_id: adds.purchaseId, extends_session_id: adds.sessionId }),
		created_at: now,
		updated_at: now
	};
	const isToken = PURCHASE_TOKEN_PATTERN.test(token);
	const insert = (own: string) =>
		insertOrder(purchases, api, own, values, orderer, listProofs(token, relation));
	if (isToken) {
		const row = await insert(token);
		const isRelated = row.extends_purchase_id === (adds?.purchaseId ?? null);
		const isSame = Object.entries(order).every(([name, value]) => row[name as keyof typeof order] === value);
		if (isRelated && (keepsToken || isSame)) return { token, row };
	}
	// Another order from the same page (back, other number, buy) is a separate purchase.
	const other = isToken ? deriveFormToken(token, form) : purchaseToken();
	return { token: other, row: await insert(other) };
}

/** What only the buyer of an order has, and the purchases of which the page of the form speaks itself. */
const listProofs = (formToken: string, { adds, repeats }: Relation) => ({
	proofs: [
		`form ${formToken}`,
		...(repeats ? [`form ${repeats.token}`] : []),
		...(adds ? [`added to ${adds.purchaseId}`] : [])
	],
	except: [adds?.purchaseId, repeats?.purchaseId]
});

/** Token of another order from the page that made `token`. */
const deriveFormToken = (token: string, form: PurchaseForm): string =>
	deriveToken(token + JSON.stringify(form));

/**
 * Returns the existing row of a token. Added time has no code, because another purchase shows it.
 * @throws Refused `ordered_before` for a new row
 */
function insertOrder(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	values: Omit<Insertable<Schema['purchases']>, 'token_hash'>,
	orderer: Orderer | null,
	proofs: ReturnType<typeof listProofs>
): Promise<PurchaseRow> {
	const { database } = purchases;
	const token_hash = sha256(token);
	const order = { routerId: values.router_id, phone: values.phone, orderer, ...proofs };
	// The code may belong to another purchase, or to this one if the same form arrived twice at once.
	return retryUniqueViolation(database, CODE_ATTEMPTS, (attempt) =>
		writeOrder(purchases, api, order, async (trx, columns, isFirst) => {
			const known = await findRow(trx, token_hash);
			if (known || !(await isFirst())) return known;
			const code =
				values.extends_purchase_id === undefined ? makeCode(purchases, token, attempt).columns : {};
			return insertRow(trx, 'purchases', { token_hash, ...values, ...columns, ...code });
		})
	);
}

/** Orders the session and starts the payment, unless that was done. Updates `row`. @throws as `buyTime` */
function completeOrder(purchases: Purchases, api: ApiClient, row: PurchaseRow): Promise<void> {
	const running = purchases.completing.get(row.id);
	if (running) {
		// By its id: after a refusal the same form may have begun another row.
		return running.finally(
			async () => void Object.assign(row, await findRowById(purchases.database.db, row.id))
		);
	}
	const work = takeMissingSteps(purchases, api, row).finally(() => purchases.completing.delete(row.id));
	purchases.completing.set(row.id, work);
	return work;
}

async function takeMissingSteps(purchases: Purchases, api: ApiClient, row: PurchaseRow): Promise<void> {
	const { db } = purchases.database;
	Object.assign(row, await findRow(db, row.token_hash));
	if (parsePaymentIds(row).length > 0) return;
	if (row.session_id === null) {
		const { id } = await requestSession(api, row);
		Object.assign(row, await storeSession(db, row.id, id, purchases.clock.now()));
	}
	await startPayment(purchases, api, row, row.phone);
}

/** If the pass to extend has just ended, orders the same time as a new pass for the same price. */
async function requestSession(api: ApiClient, row: PurchaseRow): Promise<SessionBody> {
	const order = {
		router_id: row.router_id,
		duration: row.duration,
		...(row.offer_id !== null && { offer_id: row.offer_id }),
		payment_method: row.payment_method,
		phone: row.phone
	};
	if (row.extends_session_id !== null) {
		try {
			const extension = { ...order, extends_session_id: row.extends_session_id };
			return await api.createSession(extension, deriveKey(row, 'extension'));
		} catch (error) {
			if (!isRefusedByApi(error) || error.reason !== 'session_not_extendable') throw error;
		}
	}
	return api.createSession(order, deriveKey(row, 'session'));
}

/** Starts a payment. Does nothing if one is pending or has paid for the session. */
async function startPayment({ database, clock }: Purchases, api: ApiClient, row: PurchaseRow, phone: string) {
	if (row.session_id === null) throw new Error('A purchase without a session cannot be paid');
	// Cancelled first, so that a late approval of that session's payment is refunded.
	if (row.replaces_session_id !== null && !(await cancelUnpaid(api, row.replaces_session_id))) {
		throw refuseOrder('paid_meanwhile');
	}
	const order = { amount: toMajor(row.amount_minor, row.currency), phone, session_id: row.session_id };
	const attempt = `payment-${parsePaymentIds(row).length}-${phone}`;
	try {
		const { id } = await api.startPayment(order, deriveKey(row, attempt));
		await storePayment(database, row.id, id, clock.now());
	} catch (error) {
		if (!isRefusedByApi(error)) throw error;
		if (error.reason === 'amount_mismatch') throw refuseOrder('price_changed');
		if (!isPaidOrPending(error)) throw error;
	}
}

/** @returns false if it is paid */
async function cancelUnpaid(api: ApiClient, sessionId: number): Promise<boolean> {
	// A service of other authors may not know `if_status`, and would end time that was just paid.
	if (isRunning((await api.getSession(sessionId)).status)) return false;
	try {
		await api.cancelUnpaid(sessionId);
		return true;
	} catch (error) {
		if (!isRefusedByApi(error) || error.reason !== 'session_not_active') throw error;
		return !isRunning(error.extensions.session_status);
	}
}

/**
 * A repeated request gets the first response, so each step happens once. The key contains the token's hash:
 * portals with separate databases may share an API key and use the same ids.
 */
const deriveKey = (row: PurchaseRow, step: string) =>
	`purchase-${sha256(`${row.token_hash}:${row.id}:${step}`)}`;

function isPaidOrPending({ reason, extensions: { session_status: status } }: Refused<string>): boolean {
	// Only paid sessions end or expire.
	if (reason === 'session_not_payable') return status === 'ended' || status === 'expired';
	return ['payment_in_progress', 'session_already_paid', 'idempotency_key_in_use'].includes(reason);
}

interface RetryForm extends Pick<PurchaseForm, 'paymentMethod' | 'phone' | 'amount' | 'currency'> {
	/** Id of the session whose open payment the buyer gives up, because it asks a wrong number. */
	instead?: number | null;
}

/**
 * Pays again, for the same session if it accepts the payment method, otherwise for a new one. While a payment is open it
 * does nothing, unless the buyer gives that up: its session is cancelled, so that a late approval is refunded.
 * @returns the token of the page to go to
 * @throws Refused with a code of the API, `price_changed` or `ordered_before`
 */
export async function retryPurchase(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	form: RetryForm,
	orderer: Orderer | null = null
): Promise<string> {
	const { database, clock } = purchases;
	let row = await loadRow(purchases, token);
	if (row?.session_id == null) throw new Error('There is no purchase to pay again');
	const successor = deriveSuccessorToken(token, row.session_id);
	const next = await findRow(database.db, sha256(successor));
	if (next && parsePaymentIds(next).length > 0)
		return retryPurchase(purchases, api, successor, form, orderer);

	const session = await api.getSession(row.session_id);
	if (session.status === 'active' || session.status === 'activating') return token;
	const { instead, ...wanted } = form;
	let isOpen = false;
	if (session.status === 'pending_payment') {
		if (session.payment_id !== null) {
			isOpen = (await api.getPayment(session.payment_id)).status === 'pending';
			if (isOpen && instead !== session.id) return token;
			// The response that started this payment may have been lost.
			row = await storePayment(database, row.id, session.payment_id, clock.now());
		}
		if (session.amount !== form.amount || session.currency !== form.currency)
			throw refuseOrder('price_changed');
	}
	const payable =
		!isOpen && session.status === 'pending_payment' && session.payment_method === form.paymentMethod;
	const order = {
		routerId: row.router_id,
		duration: row.duration,
		offerId: session.offer?.id ?? null,
		...wanted
	};
	const relation = {
		...{ replaces: session.id, keepsToken: true },
		repeats: { purchaseId: row.id, token }
	};
	try {
		if (!next && payable) {
			await writeRetry(purchases, api, row, { phone: form.phone, orderer, ...listProofs(token, relation) });
			if (await tryPayment(purchases, api, row, form.phone)) return token;
		}
		return await buyTime(purchases, api, successor, order, orderer, relation);
	} catch (error) {
		if (isRefusedFor(error, 'paid_meanwhile')) return token;
		throw error;
	}
}

/** Compares a payment of the same session with other orders of its number, which may be another one than before. */
const writeRetry = (
	purchases: Purchases,
	api: ApiClient,
	row: PurchaseRow,
	order: { phone: string; orderer: Orderer | null } & ReturnType<typeof listProofs>
): Promise<boolean> =>
	writeOrder(purchases, api, { routerId: row.router_id, ...order }, async (trx, columns, isFirst) => {
		if (!(await isFirst())) return null;
		await updateRow(trx, row.id, { ...columns, updated_at: purchases.clock.now() });
		return true;
	});

/** Returns false if the same time can only be ordered in a new session. */
async function tryPayment(purchases: Purchases, api: ApiClient, row: PurchaseRow, phone: string) {
	try {
		// After a lost response the same key finds the payment that started.
		await startPayment(purchases, api, row, phone).catch((error: unknown) => {
			if (!isUnanswered(error)) throw error;
			return startPayment(purchases, api, row, phone);
		});
		return true;
	} catch (error) {
		// The payer may have been asked: only the page can tell, once the service answers.
		if (isUnanswered(error)) return true;
		if (isRefusedByApi(error) && NEEDS_NEW_SESSION.includes(error.reason)) return false;
		throw error;
	}
}

/**
 * Adds time, or buys a new pass if the old one has ended. Does nothing while a payment for it is pending.
 * @param form `token` is the form's own: sent twice, it is one order
 * @throws as `retryPurchase`; the purchase itself is not shown first, because its page has the form
 */
export async function extendPurchase(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	{ token: formToken, ...form }: PurchaseForm & { token: string },
	orderer: Orderer | null = null
): Promise<void> {
	const { db } = purchases.database;
	const row = await loadRow(purchases, token);
	const part = row && (await readPart(db, api, row));
	if (!row || !part) throw new Error('There is no purchase to add time to');
	const added = await readAddedParts(db, api, row);
	const newest = added.at(-1);
	if (newest?.payment?.status === 'pending') return;
	const relation = {
		replaces: newest && isUnpaid(newest.session) ? newest.session.id : null,
		adds: { purchaseId: row.id, sessionId: findLastActive([part, ...added])?.id ?? null }
	};
	try {
		await buyTime(purchases, api, formToken, { ...form, routerId: row.router_id }, orderer, relation);
	} catch (error) {
		if (!isRefusedFor(error, 'paid_meanwhile')) throw error;
	}
	// Its code stays valid.
	await updateRow(db, row.id, { updated_at: purchases.clock.now() });
}

/**
 * Returns the token of what a form has ordered already, if nothing says that nothing was paid; null if there is none.
 * @param form if complete: it may be another order from the page that made `token`
 */
export async function findOrdered(
	purchases: Purchases,
	api: ApiClient,
	token: string,
	form: PurchaseForm | null
): Promise<string | null> {
	if (form && (await mayBePaid(purchases, api, deriveFormToken(token, form))))
		return deriveFormToken(token, form);
	return (await mayBePaid(purchases, api, token)) ? token : null;
}

/** For a purchase or added time: not all payments have failed, or it was paid again. Waits for an order that is being placed. */
async function mayBePaid(purchases: Purchases, api: ApiClient, token: string): Promise<boolean> {
	const { db } = purchases.database;
	const read = () => findRow(db, sha256(token));
	const row = PURCHASE_TOKEN_PATTERN.test(token) ? await read() : null;
	if (!row || isApiBuyer(purchases.secrets, row)) return false;
	const isRefused = await purchases.completing.get(row.id)?.then(
		() => false,
		(error: unknown) => isRefusal(error) && !isRefusedFor(error, 'paid_meanwhile')
	);
	// Its row is deleted in a moment.
	if (isRefused) return false;
	const ordered = await read();
	const part = ordered && (await readPart(db, api, ordered));
	if (ordered?.session_id == null || !part) return false;
	if ([part.payment, ...part.otherPayments].some((payment) => payment?.status !== 'failed')) return true;
	return (await findRow(db, sha256(deriveSuccessorToken(token, ordered.session_id)))) !== null;
}

const isRefusal = (error: unknown) =>
	error instanceof Refused && !isInUse(error) && !isRefusedFor(error, 'ordered_before');

const isInUse = (error: unknown) => isRefusedByApi(error) && error.reason === 'idempotency_key_in_use';

const isRunning = (status: unknown) => status === 'active' || status === 'activating';

/** A new order cancels such a session first, so that a late payment for it is refunded. */
const isUnpaid = ({ status }: SessionBody) => status === 'pending_payment' || status === 'cancelled';

/** The request may have taken effect; one that was limited did not. */
const isUnanswered = (error: unknown) => error instanceof Unavailable && error.sent;

const NEEDS_NEW_SESSION: readonly string[] = ['session_not_payable', 'payment_attempts_exceeded'];

/**
 * Before a number pays at a router, its buyer is shown an earlier order that is unpaid or was paid a moment ago: people
 * go back, open the page again or press Pay in two tabs, and a fresh form says nothing of the first one.
 *
 * Security: guests of a venue share its address, and people know each other's numbers. So an address alone tells only
 * that there is an order, and opens nothing. The page or captive session that made an order proves its buyer.
 */

/** Who orders. */
export interface Orderer {
	/** IP address, or /64 of IPv6. */
	network: string;
	/** Id of the captive session that orders. */
	captiveSession?: string | null;
	/** `mark` of the earlier order beside which the buyer wants another one; empty if none was shown. */
	another: string;
}

/** An earlier order, as its buyer is told of it. */
export interface EarlierOrder {
	/** Confirms an order beside this one and the ones before it. */
	mark: string;
	/** null unless the buyer is proven. */
	own: OwnOrder | null;
}

export interface OwnOrder {
	/** Of the page that shows it. */
	token: string;
	state: 'unpaid' | 'paid';
	amount: number;
	currency: string;
	duration: string;
	/** null until the API has the order. */
	part: PurchasePart | null;
	/** Whole minutes since it was paid. */
	minutesAgo: number;
}

/** Columns of a purchase by which later orders find it. */
type OrderColumns = Pick<PurchaseRow, 'number_hash' | 'asked_from'>;

interface Order {
	routerId: number;
	phone: string;
	/** null asks nobody. */
	orderer: Orderer | null;
	/** What else only the buyer of an order has: its form, or the page that adds the time. */
	proofs: readonly string[];
	/** Ids of purchases of which the page speaks itself. */
	except: readonly (number | undefined)[];
}

/** "paid a moment ago" */
const JUST_PAID_MS = 10 * MINUTE_MS;
/** Longer than the time to pay. */
const LOOK_BACK_MS = HOUR_MS;
const MAX_TRIES = 8;

/**
 * Writes an order, unless an earlier one must be shown first. The transaction that writes decides, so of two orders at
 * the same moment one sees the other.
 * @param write gets the columns to store; returns null if it asks `isFirst` and is not
 * @throws Refused `ordered_before`
 */
async function writeOrder<T>(
	purchases: Purchases,
	api: ApiClient,
	order: Order,
	write: (trx: Tx, columns: OrderColumns, isFirst: () => Promise<boolean>) => Promise<T | null>
): Promise<T> {
	const { database, clock, hashOrder, region } = purchases;
	const { orderer, except } = order;
	// Another notation is the same number. The API refuses what is no number.
	const number = parseMobile(order.phone, region) ?? order.phone;
	const numberHash = hashOrder(`${order.routerId} ${number}`);
	const inOrder = (text: string) => hashOrder(`${numberHash} ${text}`);
	const proofs = [
		...(orderer?.captiveSession ? [`captive session ${orderer.captiveSession}`] : []),
		...order.proofs
	].map(inOrder);
	const from = [...(orderer ? [inOrder(`network ${orderer.network}`)] : []), ...proofs];
	const columns = { number_hash: numberHash, asked_from: JSON.stringify(from) };
	const markOf = ({ id }: PurchaseRow) => inOrder(`purchase ${id}`);
	const passed = new Set<number | undefined>(except);

	for (let tries = 0; tries < MAX_TRIES; tries += 1) {
		let found: PurchaseRow[] = [];
		const written = await database.transact(async (trx) => {
			// First, so that the same form sent twice finds what it has written, not an earlier order.
			if (orderer !== null) await lockName(trx, `orders of ${numberHash}`);
			const isFirst = async () => {
				if (orderer === null) return true;
				const recent = await findRowsOfNumber(trx, numberHash, clock.now() - LOOK_BACK_MS);
				const confirmed = recent.find((row) => markOf(row) === orderer.another)?.id ?? 0;
				found = recent.filter((row) => row.id > confirmed && !passed.has(row.id) && isFrom(row, from));
				return found.length === 0;
			};
			return write(trx, columns, isFirst);
		});
		if (written !== null) return written;
		for (const row of found) {
			const part = await readEarlier(purchases, api, row);
			if (part === null) passed.add(row.id);
			else
				throw refuseOrder('ordered_before', {
					earlier: await describeEarlier(purchases, row, part, { mark: markOf(row), proofs })
				});
		}
	}
	throw new Unavailable('the orders of a number change too fast');
}

const isFrom = (row: PurchaseRow, from: readonly string[]): boolean =>
	parseAskedFrom(row).some((hash) => from.includes(hash));

const parseAskedFrom = ({ asked_from }: PurchaseRow): string[] =>
	asked_from === null ? [] : (JSON.parse(asked_from) as string[]);

/** Reads an order that is open or was paid a moment ago, once its own request has ended; null for any other. */
async function readEarlier(
	{ database: { db }, clock, completing }: Purchases,
	api: ApiClient,
	{ id }: PurchaseRow
): Promise<Read | null> {
	await completing.get(id)?.catch(() => undefined);
	const row = await findRowById(db, id);
	// It was refused.
	if (row === null) return null;
	const now = clock.now();
	const part = await readPart(db, api, row).catch((problem: unknown) => {
		if (isRefusedByApi(problem)) return null;
		throw problem;
	});
	if (!part?.payment) {
		const isUnpaid = part === null ? row.session_id === null : part.session.status === 'pending_payment';
		return isUnpaid && now - row.created_at < COMPLETE_WITHIN_MS ? { state: 'unpaid', part, agoMs: 0 } : null;
	}
	const { session, payment } = part;
	if (isUndecided(payment))
		return session.status === 'pending_payment' ? { state: 'unpaid', part, agoMs: 0 } : null;
	const agoMs = now - Date.parse(payment.paid_at ?? payment.updated_at);
	const isHad = payment.status === 'success' && !OVER.includes(session.status);
	return isHad && agoMs < JUST_PAID_MS ? { state: 'paid', part, agoMs } : null;
}

/** An order after these is none by mistake. */
const OVER: readonly string[] = ['cancelled', 'ended', 'expired'];

interface Read {
	state: OwnOrder['state'];
	part: PurchasePart | null;
	agoMs: number;
}

async function describeEarlier(
	purchases: Purchases,
	row: PurchaseRow,
	{ state, part, agoMs }: Read,
	{ mark, proofs }: { mark: string; proofs: readonly string[] }
): Promise<EarlierOrder> {
	if (!isFrom(row, proofs)) return { mark, own: null };
	// The page of the purchase shows its added time.
	const shownBy =
		row.extends_purchase_id === null
			? row
			: await findRowById(purchases.database.db, row.extends_purchase_id);
	const token = shownBy && openToken(purchases, shownBy);
	if (token === null) return { mark, own: null };
	const amount = toMajor(row.amount_minor, row.currency);
	return {
		mark,
		own: {
			...{ token, state, amount, currency: row.currency, duration: row.duration, part },
			minutesAgo: Math.max(0, Math.floor(agoMs / MINUTE_MS))
		}
	};
}
