import type { ApiClient } from '../api-client.ts';
import { ApiProblem } from '../api-client.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { readCode } from '#lib/checkout/purchase/code.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { PaymentBody, SessionBody } from '#lib/server/api/contract/schemas.ts';
import type { Database } from '#lib/server/db/database.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/ids.ts';
import type { RateLimits } from '#lib/server/api/rate-limits/rate-limits.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { createCodes } from './codes.ts';
import { createOrdering, derivedToken, PaidMeanwhile, PriceChanged, type PurchaseForm } from './ordering.ts';
import * as store from './store.ts';
import { addedParts, lastActive, MAX_ADDED, partOf, type PurchaseView } from './views.ts';

export { PriceChanged, type PurchaseForm } from './ordering.ts';
export type { PurchasePart, PurchaseView } from './views.ts';

/**
 * The portal's record of a purchase: which session and payment belong to the unguessable token in the buyer's
 * address. One form leads to one purchase, however often it is sent: its token comes with the form, and every
 * step that is missing (session, payment) is made up for on the way, never made twice. Time that is added later is a
 * purchase, too, but has no page of its own: it shows on the page of the first one.
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
	/**
	 * Adds time to the end of a purchase's pass; a new pass on the same page where it is over by then. While a
	 * payment for added time is open nothing more is started; one that was not paid is cancelled for the new one.
	 * @param form `token` is the form's own: sent twice, it is still one order
	 * @throws ApiProblem when the service refuses, PriceChanged when its price is not what the buyer saw
	 */
	extend(api: ApiClient, token: string, form: AddedTimeForm): Promise<void>;
	/** The purchase as soon as its payment leaves `pending`, or after `waitSeconds`. */
	wait(api: ApiClient, token: string, waitSeconds: number): Promise<PurchaseView | null>;
	/**
	 * What a typed code opens. Each try counts against its network and against all of them, so that codes cannot be
	 * guessed; beyond the first no code is looked at. Beyond the second, which anybody can use up, a code opens with the
	 * number that paid, which nobody guesses beside it: so nobody keeps buyers from what they bought.
	 * @param phone the number as it was typed; '' where none was asked for
	 */
	resume(api: ApiClient, typed: { code: string; phone: string }, network: string): Promise<Resumed>;
	/** Whether there is a purchase of a token, one of a guest included. */
	exists(token: string): Promise<boolean>;
	/** Sessions of a purchase and of the time added to it, for who knows the SHA-256 of its token (a visit does). */
	sessionsOf(tokenHash: string): Promise<number[]>;
}

export type RetryForm = Pick<PurchaseForm, 'paymentMethod' | 'phone' | 'amount' | 'currency'>;
export type AddedTimeForm = PurchaseForm & { token: string };

export type Resumed =
	| { kind: 'found'; token: string }
	/** `crowded`: too many tries of all networks together. Asked for a number, or that was not the purchase's. */
	| { kind: 'unknown' | 'crowded' }
	| { kind: 'limited'; retryAfterSeconds: number };

export interface PurchasesDependencies {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	rateLimits: RateLimits;
	/** Tries to open a purchase by its code in any minute: of one network, and of all together. */
	maxCodes: { network: number; total: number };
	/** A purchase without a page: somebody bought elsewhere, and signed in at a gateway. */
	isApiBuyer(purchase: store.PurchaseRow): boolean;
	/** Country of numbers that are typed without a country code. */
	region: string;
}

/** An order that was cut off is completed when the buyer comes back this soon; later it would surprise them. */
const COMPLETE_WITHIN_MS = 2 * 60 * 1000;
/**
 * A code opens a purchase for this long after the last that happened to it: the longest pass and a month. The address
 * of its page works for good.
 */
const CODE_MS = 60 * 24 * 60 * 60 * 1000;

export function createPurchases(dependencies: PurchasesDependencies): Purchases {
	const { database, clock, secrets, rateLimits, maxCodes, region, isApiBuyer } = dependencies;
	const { db } = database;
	const codes = createCodes(database, secrets);
	const ordering = createOrdering(database, clock, codes);

	async function view(api: ApiClient, token: string, row: store.PurchaseRow): Promise<PurchaseView | null> {
		if (row.session_id === null) return null;
		const [part, router, added, successor, code] = await Promise.all([
			partOf(db, api, row),
			api.recent.getRouter(row.router_id),
			addedParts(db, api, ordering, row),
			successorOf(token, row),
			codes.of(token, row)
		]);
		return part && { ...part, router, added, successor, code };
	}

	async function afterWaiting(
		api: ApiClient,
		token: string,
		row: store.PurchaseRow,
		waitSeconds: number
	): Promise<PurchaseView | null> {
		if (waitSeconds > 0) {
			const [newest] = await store.addedTo(db, row.id, 1);
			const latest = (newest && store.paymentIds(newest).at(-1)) ?? store.paymentIds(row).at(-1);
			if (latest !== undefined) await api.getPayment(latest, waitSeconds);
		}
		return view(api, token, row);
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

	/** The purchase of a page's token, with a payment that was started for it though its answer was lost. */
	async function load(api: ApiClient, token: string): Promise<store.PurchaseRow | null> {
		const row = PURCHASE_TOKEN_PATTERN.test(token) ? await store.find(db, sha256(token)) : null;
		if (!row || row.extends_purchase_id !== null || isApiBuyer(row)) return null;
		return ordering.adopted(api, row);
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
			return await ordering.buy(api, successor, order, { replaces: session.id, isAnyOrder: true });
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
			await ordering.pay(api, row, session, phone);
			return true;
		} catch (error) {
			if (error instanceof ApiProblem && NEEDS_NEW_SESSION.includes(error.code)) return false;
			throw error;
		}
	}

	async function extend(
		api: ApiClient,
		token: string,
		{ token: formToken, ...form }: AddedTimeForm
	): Promise<void> {
		const row = await load(api, token);
		const part = row && (await partOf(db, api, row));
		if (!row || !part) throw new Error('There is no purchase to add time to');
		const added = await addedParts(db, api, ordering, row);
		const newest = added.at(-1);
		if (newest?.payment?.status === 'pending') return;
		const relation = {
			replaces: newest && isUnpaid(newest.session) ? newest.session.id : null,
			adds: { purchaseId: row.id, sessionId: lastActive([part, ...added])?.id ?? null }
		};
		try {
			await ordering.buy(api, formToken, { ...form, routerId: row.router_id }, relation);
		} catch (error) {
			if (!(error instanceof PaidMeanwhile)) throw error;
		}
		// Its code goes on opening it.
		await store.touch(db, row.id, clock.now());
	}

	/** Whole seconds until a refused try may come again; null when it is admitted. */
	async function limited(subject: string, limit: number): Promise<number | null> {
		const { admitted, resetMs } = await rateLimits.take(subject, limit);
		return admitted ? null : Math.max(1, Math.ceil(resetMs / 1000));
	}

	/** Whether a payment of a purchase was asked of a number (E.164), the newest first. */
	async function hasPaid(api: ApiClient, row: store.PurchaseRow, number: string): Promise<boolean> {
		if (parseMobile(row.phone, region) === number) return true;
		for (const id of store.paymentIds(row).reverse()) {
			if ((await api.getPayment(id)).phone === number) return true;
		}
		return false;
	}

	return {
		newToken: purchaseToken,
		buy: (api, token, form) => ordering.buy(api, token, form),
		async find(api, token, waitSeconds = 0) {
			const row = await load(api, token);
			if (!row) return null;
			if (store.paymentIds(row).length > 0) return afterWaiting(api, token, row, waitSeconds);
			if (clock.now() - row.created_at >= COMPLETE_WITHIN_MS) return view(api, token, row);
			try {
				return await view(api, token, await ordering.complete(api, row));
			} catch (error) {
				// What cannot be completed is shown as it is: with the way to try again, or as what was paid instead.
				const known = [ApiProblem, PriceChanged, PaidMeanwhile].some((kind) => error instanceof kind);
				if (known) return view(api, token, row);
				throw error;
			}
		},
		retry,
		extend,
		async wait(api, token, waitSeconds) {
			const row = await load(api, token);
			return row && afterWaiting(api, token, row, waitSeconds);
		},
		async resume(api, { code: typed, phone }, network) {
			const code = readCode(typed);
			// What cannot be a code guesses nothing.
			if (code === null) return { kind: 'unknown' };
			const retryAfterSeconds = await limited(`code:${network}`, maxCodes.network);
			if (retryAfterSeconds !== null) return { kind: 'limited', retryAfterSeconds };
			const isCrowded = (await limited('code', maxCodes.total)) !== null;
			const number = isCrowded ? parseMobile(phone, region) : null;
			if (isCrowded && number === null) return { kind: 'crowded' };
			const token = await codes.open(code, clock.now() - CODE_MS);
			if (number !== null) {
				const row = token === null ? null : await store.find(db, sha256(token));
				if (!row || !(await hasPaid(api, row, number))) return { kind: 'crowded' };
			}
			return token === null ? { kind: 'unknown' } : { kind: 'found', token };
		},
		exists: async (token) =>
			PURCHASE_TOKEN_PATTERN.test(token) && (await store.find(db, sha256(token))) !== null,
		async sessionsOf(tokenHash) {
			const row = await store.find(db, tokenHash);
			const added = row ? await store.addedTo(db, row.id, MAX_ADDED) : [];
			return [row, ...added].flatMap((one) => one?.session_id ?? []);
		}
	};
}

/** Not paid, and if it were paid after all, the money would buy time a second time: it is cancelled first. */
const isUnpaid = ({ status }: SessionBody) => status === 'pending_payment' || status === 'cancelled';

/** One purchase has one successor, whatever the buyer typed: parallel tries meet in it. */
const successorToken = (token: string, sessionId: number) => derivedToken(`${token}:${sessionId}`);

/** The order cannot be paid any more, but the same time can be bought anew. */
const NEEDS_NEW_SESSION: readonly string[] = ['session_not_payable', 'payment_attempts_exceeded'];
