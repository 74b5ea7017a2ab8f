import { createHash } from 'node:crypto';
import { toMinor } from '../../money.ts';
import { ApiProblem, ApiUnavailable, type ApiClient } from '../api-client.ts';
import type { Clock } from '../clock.ts';
import type { PaymentBody, RouterBody, SessionBody } from '../contract/schemas.ts';
import type { Database } from '../db/database.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '../ids.ts';
import { sha256 } from '../secrets.ts';
import * as store from './store.ts';

/**
 * The portal's record of a purchase: which session and payment belong to the unguessable token in the buyer's
 * address. One form leads to one purchase, however often it is sent: its token comes with the form, and every
 * step that is missing (session, payment) is made up for on the way, never made twice.
 */
export interface Purchases {
	/** A token for a form that is about to be shown. */
	newToken(): string;
	/**
	 * Buys what the form says, or goes on with the purchase that the same form began.
	 * @returns the token of the purchase's page
	 * @throws ApiProblem when the service refuses, PriceChanged when its price is not what the buyer saw; then
	 * nothing is kept and nothing was charged
	 */
	buy(api: ApiClient, token: string, form: PurchaseForm): Promise<string>;
	/**
	 * @param waitSeconds how long an answer may be held back while the payment is pending
	 * @returns null when the token names nothing
	 */
	find(api: ApiClient, token: string, waitSeconds?: number): Promise<PurchaseView | null>;
	/**
	 * Pays again: for the same session while it can be paid with that network, else for a new one.
	 * @returns the token of the page to go to
	 * @throws ApiProblem when the service refuses, PriceChanged when its price is not what the buyer saw
	 */
	retry(api: ApiClient, token: string, form: RetryForm): Promise<string>;
	/** The purchase as soon as its payment leaves `pending`, or after `waitSeconds`. */
	wait(api: ApiClient, token: string, waitSeconds: number): Promise<PurchaseView | null>;
	/** The session of a purchase, for who knows the SHA-256 of its token (a visit does); null when there is none. */
	sessionOf(tokenHash: string): Promise<number | null>;
}

export interface PurchaseForm {
	routerId: number;
	duration: string;
	paymentMethod: string;
	phone: string;
	/** What the buyer saw, in major units, and its currency: nothing else is charged. */
	amount: number;
	currency: string;
}

export type RetryForm = Pick<PurchaseForm, 'paymentMethod' | 'phone' | 'amount' | 'currency'>;

export interface PurchaseView {
	router: RouterBody;
	session: SessionBody;
	/** The payment that bought the session, else the newest one. */
	payment: PaymentBody | null;
	/** The other payments of this purchase, newest first: some of their money may be on its way back. */
	otherPayments: PaymentBody[];
	/** Token of the purchase that was made in the place of this one. */
	successor: string | null;
}

/** The price has changed since the buyer saw it. Nothing was charged. */
export class PriceChanged extends Error {
	constructor() {
		super('The price has changed since it was shown');
		this.name = 'PriceChanged';
	}
}

/** Purchases in a row whose payments are still shown. */
const MAX_REPLACED = 5;
/** An order that was cut off is completed when the buyer comes back this soon; later it would surprise them. */
const COMPLETE_WITHIN_MS = 2 * 60 * 1000;

export function createPurchases(database: Database, clock: Clock): Purchases {
	const { db } = database;
	/** Purchases that are being completed in this process: a second click waits for the first. */
	const completing = new Map<number, Promise<store.PurchaseRow>>();

	/** Makes up for the steps that are missing. */
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
		const session = await api.createSession({
			router_id: row.router_id,
			duration: row.duration,
			payment_method: row.payment_method,
			phone: row.phone
		});
		return { row: await store.setSession(db, row.id, session.id, clock.now()), session };
	}

	const adopt = (row: store.PurchaseRow, paymentId: number) =>
		store.addPayment(database, row.id, paymentId, clock.now());

	/** Starts a payment, or adopts the one that is open or has paid already. */
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

	async function view(api: ApiClient, token: string, row: store.PurchaseRow): Promise<PurchaseView | null> {
		if (row.session_id === null) return null;
		const read = api.recent;
		const earlier = await replacedPayments(row);
		const noted = [...new Set([...store.paymentIds(row), ...earlier])];
		// Payments first: what they say decides whether the session has to be asked for again.
		const payments = await Promise.all(noted.map((id) => read.getPayment(id)));
		const [router, session] = await Promise.all([
			read.getRouter(row.router_id),
			read.getSession(row.session_id)
		]);
		const bought = session.payment_id;
		if (bought !== null && !noted.includes(bought)) payments.push(await read.getPayment(bought));
		const own = [...store.paymentIds(row), bought];
		payments.sort((a, b) => b.id - a.id);
		const payment =
			payments.find(({ id }) => id === session.payment_id) ??
			payments.find(({ id }) => own.includes(id)) ??
			null;
		const otherPayments = payments.filter((other) => other !== payment);
		return { router, session, payment, otherPayments, successor: await successorOf(token, row) };
	}

	async function afterWaiting(
		api: ApiClient,
		token: string,
		row: store.PurchaseRow,
		waitSeconds: number
	): Promise<PurchaseView | null> {
		const latest = store.paymentIds(row).at(-1);
		if (latest !== undefined && waitSeconds > 0) await api.getPayment(latest, waitSeconds);
		return view(api, token, row);
	}

	/** Payments of the purchases that this one replaced. */
	async function replacedPayments(row: store.PurchaseRow): Promise<number[]> {
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

	async function successorOf(token: string, row: store.PurchaseRow): Promise<string | null> {
		if (row.session_id === null) return null;
		const successor = successorToken(token, row.session_id);
		const next = await store.find(db, sha256(successor));
		return next?.session_id == null ? null : successor;
	}

	async function latestPayment(api: ApiClient, row: store.PurchaseRow): Promise<PaymentBody | null> {
		const id = store.paymentIds(row).at(-1);
		return id === undefined ? null : api.getPayment(id);
	}

	async function begin(
		token: string,
		form: PurchaseForm,
		replaces: number | null
	): Promise<{ token: string; row: store.PurchaseRow }> {
		const now = clock.now();
		const amount = toMinor(form.amount, form.currency);
		if (amount === null) throw new PriceChanged();
		const values = {
			router_id: form.routerId,
			duration: form.duration,
			payment_method: form.paymentMethod,
			// PostgreSQL stores no NUL; the service refuses such a number anyway.
			phone: form.phone.replaceAll('\0', ''),
			amount_minor: amount,
			currency: form.currency,
			replaces_session_id: replaces,
			created_at: now,
			updated_at: now
		};
		if (PURCHASE_TOKEN_PATTERN.test(token)) {
			const token_hash = sha256(token);
			const row = (await store.insert(db, { token_hash, ...values })) ?? (await store.find(db, token_hash));
			if (row && (replaces !== null || isSameOrder(row, form))) return { token, row };
		}
		// Another order from the same page (back, other number, buy): a purchase of its own.
		const own = token + JSON.stringify(form);
		const other = PURCHASE_TOKEN_PATTERN.test(token) ? derivedToken(own) : purchaseToken();
		const token_hash = sha256(other);
		const row = (await store.insert(db, { token_hash, ...values })) ?? (await store.find(db, token_hash));
		if (!row) throw new Error('A purchase vanished while it began');
		return { token: other, row };
	}

	async function buy(
		api: ApiClient,
		givenToken: string,
		form: PurchaseForm,
		replaces: number | null = null
	): Promise<string> {
		const { token, row } = await begin(givenToken, form, replaces);
		try {
			await complete(api, row);
		} catch (error) {
			// No answer: the payment may exist. The page of the purchase finds out and goes on from here.
			if (error instanceof ApiUnavailable && (await hasSession(row))) return token;
			// The purchase that it replaces is cancelled by now: what is left to do is done on the new page.
			if (error instanceof ApiProblem && replaces !== null && (await hasSession(row))) return token;
			// Refused, or not even ordered: no payment exists, so nothing is lost by forgetting it.
			await store.removeUnpaid(db, row.id);
			throw error;
		}
		return token;
	}

	const hasSession = async (row: store.PurchaseRow) =>
		((await store.find(db, row.token_hash))?.session_id ?? null) !== null;

	/** The purchase of a token, with a payment that was started for it though its answer was lost. */
	async function load(api: ApiClient, token: string): Promise<store.PurchaseRow | null> {
		const row = PURCHASE_TOKEN_PATTERN.test(token) ? await store.find(db, sha256(token)) : null;
		if (!row || row.session_id === null || store.paymentIds(row).length > 0) return row;
		const { payment_id } = await api.getSession(row.session_id);
		return payment_id === null ? row : adopt(row, payment_id);
	}

	async function retry(api: ApiClient, token: string, form: RetryForm): Promise<string> {
		const row = await load(api, token);
		if (row?.session_id == null) throw new Error('There is no purchase to pay again');
		const successor = successorToken(token, row.session_id);
		// What was replaced goes on in its successor.
		const next = await store.find(db, sha256(successor));
		if (next && store.paymentIds(next).length > 0) return retry(api, successor, form);

		const session = await api.getSession(row.session_id);
		if (session.status === 'active' || session.status === 'activating') return token;
		if (session.status === 'pending_payment') {
			const latest = await latestPayment(api, row);
			if (latest?.status === 'pending') return token;
			if (session.amount !== form.amount || session.currency !== form.currency) throw new PriceChanged();
		}
		const payable = session.status === 'pending_payment' && session.payment_method === form.paymentMethod;
		const order = { routerId: row.router_id, duration: row.duration, ...form };
		try {
			if (!next && payable && (await payAgain(api, row, session, form.phone))) return token;
			return await buy(api, successor, order, session.id);
		} catch (error) {
			if (error instanceof PaidMeanwhile) return token;
			throw error;
		}
	}

	/** @returns false when the session takes no more payments, but the same time can be bought anew */
	async function payAgain(
		api: ApiClient,
		row: store.PurchaseRow,
		session: SessionBody,
		phone: string
	): Promise<boolean> {
		try {
			await pay(api, row, session, phone);
			return true;
		} catch (error) {
			if (error instanceof ApiProblem && NEEDS_NEW_SESSION.includes(error.code)) return false;
			throw error;
		}
	}

	return {
		newToken: purchaseToken,
		buy,
		async find(api, token, waitSeconds = 0) {
			const row = await load(api, token);
			if (!row) return null;
			if (store.paymentIds(row).length > 0) return afterWaiting(api, token, row, waitSeconds);
			if (clock.now() - row.created_at >= COMPLETE_WITHIN_MS) return view(api, token, row);
			try {
				return await view(api, token, await complete(api, row));
			} catch (error) {
				// What cannot be completed is shown as it is, with the way to try again.
				if (error instanceof ApiProblem || error instanceof PriceChanged) return view(api, token, row);
				throw error;
			}
		},
		retry,
		async wait(api, token, waitSeconds) {
			const row = await load(api, token);
			return row && afterWaiting(api, token, row, waitSeconds);
		},
		sessionOf: async (tokenHash) => (await store.find(db, tokenHash))?.session_id ?? null
	};
}

/** The session that was to be replaced has been paid after all. */
class PaidMeanwhile extends Error {}

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

/** One purchase has one successor, whatever the buyer typed: parallel tries meet in it. */
const successorToken = (token: string, sessionId: number) => derivedToken(`${token}:${sessionId}`);

/** The order cannot be paid any more, but the same time can be bought anew. */
const NEEDS_NEW_SESSION: readonly string[] = ['session_not_payable', 'payment_attempts_exceeded'];

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
const derivedToken = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 24);
