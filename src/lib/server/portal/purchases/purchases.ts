import type { ApiClient } from '../api-client.ts';
import { ApiProblem } from '../api-client.ts';
import { parseMobile } from '#lib/domain/phone.ts';
import { readCode } from '#lib/checkout/purchase/code.ts';
import type { Clock } from '#lib/server/platform/clock.ts';
import type { SessionBody } from '#lib/server/api/contract/schemas.ts';
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
 * Purchases: the portal's records of orders. A purchase connects the unguessable token in `/s/{token}` with a session
 * and its payments. The token comes with the form, so a form that is sent twice is one purchase; missing steps are
 * completed and never repeated. Added time is a purchase of its own, shown on the page of the first one.
 */
export interface Purchases {
	/** Returns a token for a new form. */
	newToken(): string;
	/**
	 * Places an order, or continues the purchase that the same form began.
	 * @returns the token of the purchase's page
	 * @throws ApiProblem if the API refuses, PriceChanged if the price differs from the one shown; nothing is kept and
	 * nothing was charged then
	 */
	buy(api: ApiClient, token: string, form: PurchaseForm): Promise<string>;
	/**
	 * Reads a purchase, and completes it if it was interrupted.
	 * @param waitSeconds how long to wait while the payment is pending
	 * @returns null if the token is unknown
	 */
	find(api: ApiClient, token: string, waitSeconds?: number): Promise<PurchaseView | null>;
	/**
	 * Pays again: for the same session if it can be paid with that payment method, otherwise for a new one.
	 * @returns the token of the page to go to
	 * @throws ApiProblem if the API refuses, PriceChanged if the price differs from the one shown
	 */
	retry(api: ApiClient, token: string, form: RetryForm): Promise<string>;
	/**
	 * Adds time to the end of a purchase's pass, or buys a new pass on the same page if it has ended. Does nothing while a
	 * payment for added time is pending; an unpaid order is cancelled for the new one.
	 * @param form `token` is the form's own: sent twice, it is one order
	 * @throws ApiProblem if the API refuses, PriceChanged if the price differs from the one shown
	 */
	extend(api: ApiClient, token: string, form: AddedTimeForm): Promise<void>;
	/** Reads a purchase as soon as its payment leaves `pending`, or after `waitSeconds`. */
	wait(api: ApiClient, token: string, waitSeconds: number): Promise<PurchaseView | null>;
	/**
	 * Opens a purchase by its resume code. Each try counts against a limit of its IP network and a total limit, so codes
	 * cannot be guessed. Anybody can use up the total limit; a code then opens only with the phone number that paid, so
	 * that buyers are not locked out.
	 * @param phone the number as typed; '' if none was requested
	 */
	resume(api: ApiClient, typed: { code: string; phone: string }, network: string): Promise<Resumed>;
	/** True if a token names a purchase, including those of API buyers. */
	exists(token: string): Promise<boolean>;
	/** Lists the sessions of a purchase and of its added time. @param tokenHash SHA-256 of its token, hex */
	sessionsOf(tokenHash: string): Promise<number[]>;
}

export type RetryForm = Pick<PurchaseForm, 'paymentMethod' | 'phone' | 'amount' | 'currency'>;
export type AddedTimeForm = PurchaseForm & { token: string };

export type Resumed =
	| { kind: 'found'; token: string }
	/** `crowded`: the total limit is used up, and the number was not given or is not the purchase's. */
	| { kind: 'unknown' | 'crowded' }
	| { kind: 'limited'; retryAfterSeconds: number };

export interface PurchasesDependencies {
	database: Database;
	clock: Clock;
	secrets: Secrets;
	rateLimits: RateLimits;
	/** Tries per minute to open a purchase by its code: of one IP network, and in total. */
	maxCodes: { network: number; total: number };
	/** True for a record without a page: an API buyer who signed in at a gateway. */
	isApiBuyer(purchase: store.PurchaseRow): boolean;
	/** Country of numbers without a country code. */
	region: string;
}

/** An interrupted order is completed if the buyer returns this soon; later it would surprise them. */
const COMPLETE_WITHIN_MS = 2 * 60 * 1000;
/**
 * A code opens a purchase for this long after its last change: the longest pass and a month. The address of its page
 * never expires.
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
			addedParts(db, api, row),
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

	/** The purchase whose page has this token. */
	async function load(token: string): Promise<store.PurchaseRow | null> {
		const row = PURCHASE_TOKEN_PATTERN.test(token) ? await store.find(db, sha256(token)) : null;
		return !row || row.extends_purchase_id !== null || isApiBuyer(row) ? null : row;
	}

	async function retry(api: ApiClient, token: string, form: RetryForm): Promise<string> {
		let row = await load(token);
		if (row?.session_id == null) throw new Error('There is no purchase to pay again');
		const successor = successorToken(token, row.session_id);
		// A replaced purchase continues in its successor.
		const next = await store.find(db, sha256(successor));
		if (next && store.paymentIds(next).length > 0) return retry(api, successor, form);

		const session = await api.getSession(row.session_id);
		if (session.status === 'active' || session.status === 'activating') return token;
		if (session.status === 'pending_payment') {
			if (session.payment_id !== null) {
				if ((await api.getPayment(session.payment_id)).status === 'pending') return token;
				// The answer to its start may have been lost.
				row = await store.addPayment(database, row.id, session.payment_id, clock.now());
			}
			if (session.amount !== form.amount || session.currency !== form.currency) throw new PriceChanged();
		}
		const payable = session.status === 'pending_payment' && session.payment_method === form.paymentMethod;
		const order = { routerId: row.router_id, duration: row.duration, ...form };
		try {
			if (!next && payable && (await payAgain(api, row, form.phone))) return token;
			return await ordering.buy(api, successor, order, { replaces: session.id, isAnyOrder: true });
		} catch (error) {
			if (error instanceof PaidMeanwhile) return token;
			throw error;
		}
	}

	/** @returns false if the session accepts no more payments, but the same time can be ordered again */
	async function payAgain(api: ApiClient, row: store.PurchaseRow, phone: string): Promise<boolean> {
		try {
			await ordering.pay(api, row, phone);
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
		const row = await load(token);
		const part = row && (await partOf(db, api, row));
		if (!row || !part) throw new Error('There is no purchase to add time to');
		const added = await addedParts(db, api, row);
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
		// The resume code stays valid.
		await store.touch(db, row.id, clock.now());
	}

	/** Counts a try. @returns whole seconds to wait, or null if it is admitted */
	async function limited(subject: string, limit: number): Promise<number | null> {
		const { admitted, resetMs } = await rateLimits.take(subject, limit);
		return admitted ? null : Math.max(1, Math.ceil(resetMs / 1000));
	}

	/** True if a payment of the purchase was requested from this number (E.164). */
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
			const row = await load(token);
			if (!row) return null;
			if (store.paymentIds(row).length > 0) return afterWaiting(api, token, row, waitSeconds);
			if (clock.now() - row.created_at >= COMPLETE_WITHIN_MS) return view(api, token, row);
			try {
				await ordering.complete(api, row);
			} catch (error) {
				// The page shows the purchase as it is: with a way to try again, or with the payment that succeeded instead.
				const known = [ApiProblem, PriceChanged, PaidMeanwhile];
				if (!known.some((kind) => error instanceof kind)) throw error;
			}
			return view(api, token, (await store.find(db, row.token_hash)) ?? row);
		},
		retry,
		extend,
		async wait(api, token, waitSeconds) {
			const row = await load(token);
			return row && afterWaiting(api, token, row, waitSeconds);
		},
		async resume(api, { code: typed, phone }, network) {
			const code = readCode(typed);
			// A text that cannot be a code does not count as a try.
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

/** True for a session to cancel before a new order, so that a late payment for it is refunded. */
const isUnpaid = ({ status }: SessionBody) => status === 'pending_payment' || status === 'cancelled';

/** A purchase has one successor, whatever the buyer typed, so that parallel tries meet in it. */
const successorToken = (token: string, sessionId: number) => derivedToken(`${token}:${sessionId}`);

/** Codes of refusals after which the same time can be ordered again. */
const NEEDS_NEW_SESSION: readonly string[] = ['session_not_payable', 'payment_attempts_exceeded'];
