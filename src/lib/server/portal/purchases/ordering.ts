import type { Base } from '#lib/server/base.ts';
import { createHash } from 'node:crypto';
import { toMajor, toMinor } from '#lib/domain/money.ts';
import { ApiProblem, ApiUnavailable, type ApiClient } from '../api-client.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/ids.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { retryUniqueViolation } from '#lib/server/db/queries.ts';
import { MAX_CODES, type Codes } from './codes.ts';
import { writeOrder, type Orderer } from './earlier-orders.ts';
import * as store from './store.ts';

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

export interface OrderingContext extends Pick<Base, 'database' | 'clock'> {
	codes: Codes;
	/** Hashes what identifies orders. */
	hashOf(text: string): string;
	/** Country of numbers without a country code. */
	region: string;
	/** Purchases that this process is completing: a second click waits for the first. */
	completing: Map<number, Promise<void>>;
}

/** Nothing was charged. */
export class PriceChanged extends Error {
	constructor() {
		super('The price has changed since it was shown');
	}
}

export class PaidMeanwhile extends Error {}

/**
 * Places an order, or continues the purchase that the same form began.
 * @param orderer is shown an earlier order first; without one nobody is asked
 * @returns the token of the purchase's page
 * @throws ApiProblem if the API refuses, PriceChanged if the price differs from the one shown, OrderedBefore if an earlier
 * order must be shown first. Then nothing is kept or charged. PaidMeanwhile if the session to replace was paid.
 */
export async function buy(
	context: OrderingContext,
	api: ApiClient,
	givenToken: string,
	form: PurchaseForm,
	orderer: Orderer | null = null,
	relation: Relation = {}
): Promise<string> {
	const { db } = context.database;
	const { token, row } = await begin(context, api, givenToken, form, orderer, relation);
	try {
		await complete(context, api, row);
	} catch (error) {
		const isUnanswered = error instanceof ApiUnavailable || isInUse(error);
		// The replaced purchase is already cancelled, so this one's page continues.
		const continues = isUnanswered || (error instanceof ApiProblem && relation.keepsToken);
		if (continues && (await store.find(db, row.token_hash))?.session_id != null) return token;
		// A refusal started no payment. After any other failure one may exist. The row then stays, because
		// the same form must use the same keys.
		if (isRefusal(error)) await store.removeUnpaid(db, row);
		throw isInUse(error) ? new ApiUnavailable('the same order is being placed', error) : error;
	}
	return token;
}

/** Orders the session and starts the payment, unless that was done. Updates `row`. @throws as `buy` */
export function complete(context: OrderingContext, api: ApiClient, row: store.PurchaseRow): Promise<void> {
	const running = context.completing.get(row.id);
	if (running) {
		// By its id: after a refusal the same form may have begun another row.
		return running.finally(
			async () => void Object.assign(row, await store.findById(context.database.db, row.id))
		);
	}
	const work = takeMissingSteps(context, api, row).finally(() => context.completing.delete(row.id));
	context.completing.set(row.id, work);
	return work;
}

async function takeMissingSteps(
	context: OrderingContext,
	api: ApiClient,
	row: store.PurchaseRow
): Promise<void> {
	const { db } = context.database;
	Object.assign(row, await store.find(db, row.token_hash));
	if (store.paymentIds(row).length > 0) return;
	if (row.session_id === null) {
		const { id } = await orderSession(api, row).catch(async (problem: unknown) => {
			// Refreshes the offers that the page shows.
			if (isNotSold(problem)) await api.getRouter(row.router_id);
			throw problem;
		});
		Object.assign(row, await store.setSession(db, row.id, id, context.clock.now()));
	}
	await pay(context, api, row, row.phone);
}

/** If the pass to extend has just ended, orders the same time as a new pass for the same price. */
async function orderSession(api: ApiClient, row: store.PurchaseRow): Promise<SessionBody> {
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
			return await api.createSession(extension, keyOf(row, 'extension'));
		} catch (error) {
			if (!(error instanceof ApiProblem) || error.code !== 'session_not_extendable') throw error;
		}
	}
	return api.createSession(order, keyOf(row, 'session'));
}

/** Starts a payment. Does nothing if one is pending or has paid for the session. */
export async function pay(
	{ database, clock }: OrderingContext,
	api: ApiClient,
	row: store.PurchaseRow,
	phone: string
): Promise<void> {
	if (row.session_id === null) throw new Error('A purchase without a session cannot be paid');
	// Cancelled first, so that a late approval of that session's payment is refunded.
	if (row.replaces_session_id !== null && !(await cancelUnpaid(api, row.replaces_session_id))) {
		throw new PaidMeanwhile();
	}
	const order = { amount: toMajor(row.amount_minor, row.currency), phone, session_id: row.session_id };
	const attempt = `payment-${store.paymentIds(row).length}-${phone}`;
	try {
		const { id } = await api.startPayment(order, keyOf(row, attempt));
		await store.addPayment(database, row.id, id, clock.now());
	} catch (error) {
		if (!(error instanceof ApiProblem)) throw error;
		if (error.code === 'amount_mismatch') {
			// Refreshes the price that the page shows.
			await api.getRouter(row.router_id);
			throw new PriceChanged();
		}
		if (!isPaidOrPending(error)) throw error;
	}
}

async function begin(
	context: OrderingContext,
	api: ApiClient,
	token: string,
	form: PurchaseForm,
	orderer: Orderer | null,
	relation: Relation
): Promise<{ token: string; row: store.PurchaseRow }> {
	const now = context.clock.now();
	const amount = toMinor(form.amount, form.currency);
	if (amount === null) throw new PriceChanged();
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
	const insert = (own: string) => insertOrder(context, api, own, values, orderer, proofsOf(token, relation));
	if (isToken) {
		const row = await insert(token);
		const isRelated = row.extends_purchase_id === (adds?.purchaseId ?? null);
		const isSame = Object.entries(order).every(([name, value]) => row[name as keyof typeof order] === value);
		if (isRelated && (keepsToken || isSame)) return { token, row };
	}
	// Another order from the same page (back, other number, buy) is a separate purchase.
	const other = isToken ? tokenOfForm(token, form) : purchaseToken();
	return { token: other, row: await insert(other) };
}

/** What only the buyer of an order has, and the purchases of which the page of the form speaks itself. */
export const proofsOf = (formToken: string, { adds, repeats }: Relation) => ({
	proofs: [
		`form ${formToken}`,
		...(repeats ? [`form ${repeats.token}`] : []),
		...(adds ? [`added to ${adds.purchaseId}`] : [])
	],
	except: [adds?.purchaseId, repeats?.purchaseId]
});

/** A purchase has one successor for all forms, so that parallel tries meet in it. */
export const successorToken = (token: string, sessionId: number) => derivedToken(`${token}:${sessionId}`);

/** Token of another order from the page that made `token`. */
export const tokenOfForm = (token: string, form: PurchaseForm): string =>
	derivedToken(token + JSON.stringify(form));

/**
 * Returns the existing row of a token. Added time has no code, because another purchase shows it.
 * @throws OrderedBefore for a new row
 */
function insertOrder(
	context: OrderingContext,
	api: ApiClient,
	token: string,
	values: Omit<Parameters<typeof store.insert>[1], 'token_hash'>,
	orderer: Orderer | null,
	proofs: ReturnType<typeof proofsOf>
): Promise<store.PurchaseRow> {
	const { database, codes } = context;
	const token_hash = sha256(token);
	const order = { routerId: values.router_id, phone: values.phone, orderer, ...proofs };
	// The code may belong to another purchase, or to this one if the same form arrived twice at once.
	return retryUniqueViolation(database, MAX_CODES, (attempt) =>
		writeOrder(context, api, order, async (trx, columns, isFirst) => {
			const known = await store.find(trx, token_hash);
			if (known || !(await isFirst())) return known;
			const code = values.extends_purchase_id === undefined ? codes.columns(token, attempt) : {};
			return store.insert(trx, { token_hash, ...values, ...columns, ...code });
		})
	);
}

/**
 * A repeated request gets the first response, so each step happens once. The key contains the token's hash:
 * portals with separate databases may share an API key and use the same ids.
 */
const keyOf = (row: store.PurchaseRow, step: string) =>
	`purchase-${sha256(`${row.token_hash}:${row.id}:${step}`)}`;

function isPaidOrPending({ code, extensions: { session_status: status } }: ApiProblem): boolean {
	// Only paid sessions end or expire.
	if (code === 'session_not_payable') return status === 'ended' || status === 'expired';
	return ['payment_in_progress', 'session_already_paid', 'idempotency_key_in_use'].includes(code);
}

export const isRefusal = (error: unknown) =>
	(error instanceof ApiProblem && !isInUse(error)) ||
	error instanceof PriceChanged ||
	error instanceof PaidMeanwhile;

const isNotSold = (error: unknown) => error instanceof ApiProblem && NOT_SOLD.includes(error.code);
const NOT_SOLD: readonly string[] = ['offer_not_available', 'duration_not_offered'];

const isInUse = (error: unknown) => error instanceof ApiProblem && error.code === 'idempotency_key_in_use';

/** @returns false if it is paid */
async function cancelUnpaid(api: ApiClient, sessionId: number): Promise<boolean> {
	// A service of other authors may not know `if_status`, and would end time that was just paid.
	if (isRunning((await api.getSession(sessionId)).status)) return false;
	try {
		await api.cancelUnpaid(sessionId);
		return true;
	} catch (error) {
		if (!(error instanceof ApiProblem) || error.code !== 'session_not_active') throw error;
		return !isRunning(error.extensions.session_status);
	}
}

const isRunning = (status: unknown) => status === 'active' || status === 'activating';

/** Derives a token that only a holder of the first one can compute. A double click derives the same one. */
const derivedToken = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 24);
