import { createHash } from 'node:crypto';
import { toMinor } from '#lib/domain/money.ts';
import { ApiProblem, ApiUnavailable, type ApiClient } from '../api-client.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { SessionBody } from '#lib/server/api/contract/schemas.ts';
import type { Database } from '#lib/server/db/database.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/ids.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { MAX_CODES, type Codes } from './codes.ts';
import * as store from './store.ts';

/**
 * From a form to a purchase with a session and a payment, each step made once however often the form comes and
 * whatever answer was lost on the way.
 */
export interface PurchaseForm {
	routerId: number;
	duration: string;
	paymentMethod: string;
	phone: string;
	/** What the buyer saw, in major units, and its currency: nothing else is charged. */
	amount: number;
	currency: string;
}

/** What a purchase has to do with another one. */
export interface Relation {
	/** The unpaid session in whose place it is bought; cancelled before the new payment starts. */
	replaces?: number | null;
	/** One token stands for one purchase, whatever the form says. */
	isAnyOrder?: boolean;
	/** The purchase whose page shows it, and the session to lengthen; null: its pass is over. */
	adds?: { purchaseId: number; sessionId: number | null };
}

export interface Ordering {
	/** @returns the token of the purchase; @throws as Purchases.buy, and PaidMeanwhile */
	buy(api: ApiClient, token: string, form: PurchaseForm, relation?: Relation): Promise<string>;
	/** Makes up for the steps that are missing. */
	complete(api: ApiClient, row: store.PurchaseRow): Promise<store.PurchaseRow>;
	/** Starts a payment, or adopts the one that is open or has paid already. */
	pay(
		api: ApiClient,
		row: store.PurchaseRow,
		session: SessionBody,
		phone: string
	): Promise<store.PurchaseRow>;
	/** The purchase, with a payment that was started for it though its answer was lost. */
	adopted(api: ApiClient, row: store.PurchaseRow): Promise<store.PurchaseRow>;
}

/** The price has changed since the buyer saw it. Nothing was charged. */
export class PriceChanged extends Error {
	constructor() {
		super('The price has changed since it was shown');
		this.name = 'PriceChanged';
	}
}

/** The session that was to be replaced has been paid after all. */
export class PaidMeanwhile extends Error {}

export function createOrdering(database: Database, clock: Clock, codes: Codes): Ordering {
	const { db } = database;
	/** Purchases that are being completed in this process: a second click waits for the first. */
	const completing = new Map<number, Promise<store.PurchaseRow>>();

	async function complete(api: ApiClient, row: store.PurchaseRow): Promise<store.PurchaseRow> {
		if (store.paymentIds(row).length > 0) return row;
		const running = completing.get(row.id);
		if (running) return running;
		const work = makeMissing(api, row).finally(() => completing.delete(row.id));
		completing.set(row.id, work);
		return work;
	}

	async function makeMissing(api: ApiClient, row: store.PurchaseRow): Promise<store.PurchaseRow> {
		const fresh = (await store.find(db, row.token_hash)) ?? row;
		const made = fresh.session_id === null ? await makeSession(api, fresh) : null;
		const withSession = made?.row ?? fresh;
		if (store.paymentIds(withSession).length > 0 || withSession.session_id === null) return withSession;
		// Another process may have been faster, and then it is that one's session.
		const isOwn = made?.session.id === withSession.session_id;
		const session = made && isOwn ? made.session : await api.getSession(withSession.session_id);
		// Sent already, and the answer was lost: that payment is this purchase's; never ask twice.
		if (session.payment_id !== null) return adopt(withSession, session.payment_id);
		if (toMinor(session.amount, session.currency) !== row.amount_minor || session.currency !== row.currency) {
			// The page shows what the price is now.
			await api.getRouter(row.router_id);
			throw new PriceChanged();
		}
		return pay(api, withSession, session, withSession.phone);
	}

	async function makeSession(
		api: ApiClient,
		row: store.PurchaseRow
	): Promise<{ row: store.PurchaseRow; session: SessionBody }> {
		const session = await orderSession(api, row);
		return { row: await store.setSession(db, row.id, session.id, clock.now()), session };
	}

	/** A pass that has just ended is not lengthened: the same time is sold as a new one, for the same price. */
	async function orderSession(api: ApiClient, row: store.PurchaseRow): Promise<SessionBody> {
		const order = {
			router_id: row.router_id,
			duration: row.duration,
			payment_method: row.payment_method,
			phone: row.phone
		};
		if (row.extends_session_id === null) return api.createSession(order);
		try {
			return await api.createSession({ ...order, extends_session_id: row.extends_session_id });
		} catch (error) {
			if (!(error instanceof ApiProblem) || error.code !== 'session_not_extendable') throw error;
			return api.createSession(order);
		}
	}

	const adopt = (row: store.PurchaseRow, paymentId: number) =>
		store.addPayment(database, row.id, paymentId, clock.now());

	async function pay(
		api: ApiClient,
		row: store.PurchaseRow,
		session: SessionBody,
		phone: string
	): Promise<store.PurchaseRow> {
		// Cancelled first: should that session's request still be approved, its money goes back.
		if (row.replaces_session_id !== null && !(await cancelUnpaid(api, row.replaces_session_id))) {
			throw new PaidMeanwhile();
		}
		let id: number;
		try {
			({ id } = await api.startPayment({ amount: session.amount, phone, session_id: session.id }));
		} catch (error) {
			const open = openPayment(error) ?? (await paidBy(api, session.id, error));
			if (open === null) throw error;
			id = open;
		}
		return adopt(row, id);
	}

	async function begin(
		token: string,
		form: PurchaseForm,
		relation: Relation
	): Promise<{ token: string; row: store.PurchaseRow }> {
		const now = clock.now();
		const amount = toMinor(form.amount, form.currency);
		if (amount === null) throw new PriceChanged();
		const { replaces = null, isAnyOrder = false, adds } = relation;
		const values = {
			router_id: form.routerId,
			duration: form.duration,
			payment_method: form.paymentMethod,
			// PostgreSQL stores no NUL; the service refuses such a number anyway.
			phone: form.phone.replaceAll('\0', ''),
			amount_minor: amount,
			currency: form.currency,
			replaces_session_id: replaces,
			...(adds && { extends_purchase_id: adds.purchaseId, extends_session_id: adds.sessionId }),
			created_at: now,
			updated_at: now
		};
		if (PURCHASE_TOKEN_PATTERN.test(token)) {
			const row = await insert(token, values);
			const isRelated = row.extends_purchase_id === (adds?.purchaseId ?? null);
			if (isRelated && (isAnyOrder || isSameOrder(row, form))) return { token, row };
		}
		// Another order from the same page (back, other number, buy): a purchase of its own.
		const own = token + JSON.stringify(form);
		const other = PURCHASE_TOKEN_PATTERN.test(token) ? derivedToken(own) : purchaseToken();
		return { token: other, row: await insert(other, values) };
	}

	/** The new row of a token, or the one that it has already. Added time has no code: its page is another's. */
	async function insert(
		token: string,
		values: Omit<Parameters<typeof store.insert>[1], 'token_hash'>
	): Promise<store.PurchaseRow> {
		const token_hash = sha256(token);
		for (let attempt = 0; ; attempt += 1) {
			const code = values.extends_purchase_id === undefined ? codes.columns(token, attempt) : {};
			try {
				const made = await store.insert(db, { token_hash, ...values, ...code });
				const row = made ?? (await store.find(db, token_hash));
				if (!row) throw new Error('A purchase vanished while it began');
				return row;
			} catch (error) {
				if (!database.isUniqueViolation(error) || attempt >= MAX_CODES) throw error;
				// Its code belongs to another purchase, or to itself, when the same form comes twice at once.
				const found = await store.find(db, token_hash);
				if (found) return found;
			}
		}
	}

	const hasSession = async (row: store.PurchaseRow) =>
		((await store.find(db, row.token_hash))?.session_id ?? null) !== null;

	return {
		complete,
		pay,
		async buy(api, givenToken, form, relation = {}) {
			const { token, row } = await begin(givenToken, form, relation);
			try {
				await complete(api, row);
			} catch (error) {
				// No answer: the payment may exist. The page of the purchase finds out and goes on from here.
				if (error instanceof ApiUnavailable && (await hasSession(row))) return token;
				// The purchase that it replaces is cancelled by now: what is left to do is done on the new page.
				if (error instanceof ApiProblem && relation.isAnyOrder && (await hasSession(row))) return token;
				// Refused, or not even ordered: no payment exists, so nothing is lost by forgetting it.
				await store.removeUnpaid(db, row.id);
				throw error;
			}
			return token;
		},
		async adopted(api, row) {
			if (row.session_id === null || store.paymentIds(row).length > 0) return row;
			const { payment_id } = await api.getSession(row.session_id);
			return payment_id === null ? row : adopt(row, payment_id);
		}
	};
}

/**
 * Cancels a session that is not paid.
 * @returns false when it is paid: then it stays as it is
 */
async function cancelUnpaid(api: ApiClient, sessionId: number): Promise<boolean> {
	try {
		await api.cancelUnpaid(sessionId);
		return true;
	} catch (error) {
		if (!(error instanceof ApiProblem) || error.code !== 'session_not_active') throw error;
		const status = error.extensions.session_status;
		return status !== 'active' && status !== 'activating';
	}
}

function openPayment(error: unknown): number | null {
	if (!(error instanceof ApiProblem) || error.code !== 'payment_in_progress') return null;
	const id = error.extensions.payment_id;
	return typeof id === 'number' ? id : null;
}

/** The payment that bought the session meanwhile, when that is why another one was refused. */
async function paidBy(api: ApiClient, sessionId: number, error: unknown): Promise<number | null> {
	if (!(error instanceof ApiProblem) || error.code !== 'session_already_paid') return null;
	return (await api.getSession(sessionId)).payment_id;
}

const isSameOrder = (row: store.PurchaseRow, form: PurchaseForm) =>
	row.router_id === form.routerId &&
	row.duration === form.duration &&
	row.payment_method === form.paymentMethod &&
	row.phone === form.phone &&
	row.amount_minor === toMinor(form.amount, form.currency) &&
	row.currency === form.currency;

/** A token that only a holder of the first one can come to, the same each time: a double click meets itself. */
export const derivedToken = (text: string) =>
	createHash('sha256').update(text).digest('base64url').slice(0, 24);
