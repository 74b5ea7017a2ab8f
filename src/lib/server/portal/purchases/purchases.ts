import { ApiLimited, ApiProblem, ApiUnavailable, type ApiClient } from '../api-client.ts';
import type { SessionBody } from '#lib/server/contract/schemas.ts';
import type { RateLimits } from '#lib/server/rate-limits/rate-limits.ts';
import { binder } from '#lib/server/platform/bind.ts';
import { PURCHASE_TOKEN_PATTERN, purchaseToken } from '#lib/server/platform/ids.ts';
import { sha256, type Secrets } from '#lib/server/platform/secrets.ts';
import { createCodes } from './codes.ts';
import { orderHashes, writeOrder, type Orderer } from './earlier-orders.ts';
import {
	buy,
	complete,
	PaidMeanwhile,
	pay,
	PriceChanged,
	proofsOf,
	successorToken,
	type OrderingContext,
	type PurchaseForm
} from './ordering.ts';
import { pageOf, sessionsOf, sessionsOfCode } from './find-sessions.ts';
import { orderedBy } from './ordered-by.ts';
import { resume, resumeByPayment } from './resume.ts';
import * as store from './store.ts';
import {
	addedParts,
	lastActive,
	partOf,
	shownSession,
	type PurchasePart,
	type PurchaseView,
	type ReadExtended
} from './views.ts';

export type { Resumed } from './resume.ts';
export { OrderedBefore, type EarlierOrder, type Orderer } from './earlier-orders.ts';
export { PriceChanged, type PurchaseForm } from './ordering.ts';
export type { PurchasePart, PurchaseView, ShownSession } from './views.ts';

export interface PurchasesContext extends OrderingContext {
	rateLimits: RateLimits;
	/** Tries per minute to open a purchase by its code or payment: per captive session or network, and in total. */
	isApiBuyer(purchase: store.PurchaseRow): boolean;
	readExtended: ReadExtended;
}

type RetryForm = Pick<PurchaseForm, 'paymentMethod' | 'phone' | 'amount' | 'currency'>;

/** Completes an interrupted order if the buyer returns this soon. A later charge would surprise them. */
const COMPLETE_WITHIN_MS = 2 * 60 * 1000;

export type Purchases = ReturnType<typeof createPurchases>;

/**
 * A purchase connects the unguessable token in `/s/{token}` with a session and its payments. The token comes
 * with the form, so a form that is sent twice is one purchase. Missing steps are completed and never
 * repeated. Added time is a separate purchase, shown on the page of the first one.
 */
export function createPurchases({
	secrets,
	...dependencies
}: Omit<PurchasesContext, 'codes' | 'completing' | 'hashOf'> & { secrets: Secrets }) {
	const codes = createCodes(dependencies.database, secrets);
	const hashOf = orderHashes(secrets);
	const context: PurchasesContext = { ...dependencies, codes, hashOf, completing: new Map() };
	const bind = binder(context);
	return {
		newToken: purchaseToken,
		buy: bind(buy),
		find: bind(find),
		retry: bind(retry),
		extend: bind(extend),
		wait: bind(wait),
		orderedBy: bind(orderedBy),
		resume: bind(resume),
		resumeByPayment: bind(resumeByPayment),
		exists: bind(exists),
		sessionsOf: bind(sessionsOf),
		sessionsOfCode: bind(sessionsOfCode),
		pageOf: bind(pageOf)
	};
}

/** Completes the purchase if it was interrupted. Waits up to `waitSeconds` for a pending payment. */
async function find(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	waitSeconds = 0
): Promise<PurchaseView | null> {
	const row = await load(context, token);
	if (!row) return null;
	if (store.paymentIds(row).length > 0) return afterWaiting(context, api, token, row, waitSeconds);
	if (context.clock.now() - row.created_at >= COMPLETE_WITHIN_MS) return view(context, api, token, row);
	try {
		await complete(context, api, row);
	} catch (error) {
		// The page shows the purchase as it is, with a retry or with the payment that succeeded instead.
		const known = [ApiProblem, PriceChanged, PaidMeanwhile];
		if (!known.some((kind) => error instanceof kind)) throw error;
	}
	return view(context, api, token, (await store.find(context.database.db, row.token_hash)) ?? row);
}

/** Reads a purchase as soon as its payment leaves `pending`, or after `waitSeconds`. */
async function wait(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	waitSeconds: number
): Promise<PurchaseView | null> {
	const row = await load(context, token);
	return row && afterWaiting(context, api, token, row, waitSeconds);
}

/**
 * Pays again, for the same session if it accepts the payment method, otherwise for a new one.
 * @returns the token of the page to go to
 * @throws ApiProblem if the API refuses, PriceChanged if the price differs from the one shown, OrderedBefore if another
 * order of the number must be shown first
 */
async function retry(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	form: RetryForm,
	orderer: Orderer | null = null
): Promise<string> {
	const { database, clock } = context;
	let row = await load(context, token);
	if (row?.session_id == null) throw new Error('There is no purchase to pay again');
	const successor = successorToken(token, row.session_id);
	const next = await store.find(database.db, sha256(successor));
	if (next && store.paymentIds(next).length > 0) return retry(context, api, successor, form, orderer);

	const session = await api.getSession(row.session_id);
	if (session.status === 'active' || session.status === 'activating') return token;
	if (session.status === 'pending_payment') {
		if (session.payment_id !== null) {
			if ((await api.getPayment(session.payment_id)).status === 'pending') return token;
			// The response that started this payment may have been lost.
			row = await store.addPayment(database, row.id, session.payment_id, clock.now());
		}
		if (session.amount !== form.amount || session.currency !== form.currency) throw new PriceChanged();
	}
	const payable = session.status === 'pending_payment' && session.payment_method === form.paymentMethod;
	const order = {
		routerId: row.router_id,
		duration: row.duration,
		offerId: session.offer?.id ?? null,
		...form
	};
	const relation = {
		...{ replaces: session.id, keepsToken: true },
		repeats: { purchaseId: row.id, token }
	};
	try {
		if (!next && payable) {
			await askAgain(context, api, row, { phone: form.phone, orderer, ...proofsOf(token, relation) });
			if (await payAgain(context, api, row, form.phone)) return token;
		}
		return await buy(context, api, successor, order, orderer, relation);
	} catch (error) {
		if (error instanceof PaidMeanwhile) return token;
		throw error;
	}
}

/** Compares a payment of the same session with other orders of its number, which may be another one than before. */
const askAgain = (
	context: PurchasesContext,
	api: ApiClient,
	row: store.PurchaseRow,
	order: { phone: string; orderer: Orderer | null } & ReturnType<typeof proofsOf>
): Promise<boolean> =>
	writeOrder(context, api, { routerId: row.router_id, ...order }, async (trx, columns, isFirst) => {
		if (!(await isFirst())) return null;
		await store.update(trx, row.id, { ...columns, updated_at: context.clock.now() });
		return true;
	});

/** Returns false if the same time can only be ordered in a new session. */
async function payAgain(
	context: PurchasesContext,
	api: ApiClient,
	row: store.PurchaseRow,
	phone: string
): Promise<boolean> {
	try {
		// After a lost response the same key finds the payment that started.
		await pay(context, api, row, phone).catch((error: unknown) => {
			if (!isUnanswered(error)) throw error;
			return pay(context, api, row, phone);
		});
		return true;
	} catch (error) {
		// The payer may have been asked: only the page can tell, once the service answers.
		if (isUnanswered(error)) return true;
		if (error instanceof ApiProblem && NEEDS_NEW_SESSION.includes(error.code)) return false;
		throw error;
	}
}

/**
 * Adds time, or buys a new pass if the old one has ended. Does nothing while a payment for it is pending.
 * @param form `token` is the form's own: sent twice, it is one order
 * @throws as `retry`; the purchase itself is not shown first, because its page has the form
 */
async function extend(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	{ token: formToken, ...form }: PurchaseForm & { token: string },
	orderer: Orderer | null = null
): Promise<void> {
	const { db } = context.database;
	const row = await load(context, token);
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
		await buy(context, api, formToken, { ...form, routerId: row.router_id }, orderer, relation);
	} catch (error) {
		if (!(error instanceof PaidMeanwhile)) throw error;
	}
	// Its code stays valid.
	await store.update(db, row.id, { updated_at: context.clock.now() });
}

/** Includes the purchases of API buyers. */
const exists = async ({ database }: PurchasesContext, token: string): Promise<boolean> =>
	PURCHASE_TOKEN_PATTERN.test(token) && (await store.find(database.db, sha256(token))) !== null;

/** Finds only purchases with a page of their own. */
async function load(context: PurchasesContext, token: string): Promise<store.PurchaseRow | null> {
	const { db } = context.database;
	const row = PURCHASE_TOKEN_PATTERN.test(token) ? await store.find(db, sha256(token)) : null;
	return !row || row.extends_purchase_id !== null || context.isApiBuyer(row) ? null : row;
}

async function afterWaiting(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	row: store.PurchaseRow,
	waitSeconds: number
): Promise<PurchaseView | null> {
	if (waitSeconds > 0) {
		const [newest] = await store.addedTo(context.database.db, row.id, 1);
		const latest = (newest && store.paymentIds(newest).at(-1)) ?? store.paymentIds(row).at(-1);
		if (latest !== undefined) await api.getPayment(latest, waitSeconds);
	}
	return view(context, api, token, row);
}

async function view(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	row: store.PurchaseRow
): Promise<PurchaseView | null> {
	const { db } = context.database;
	if (row.session_id === null) return null;
	const next = successorToken(token, row.session_id);
	const [part, router, added, successor, code] = await Promise.all([
		partOf(db, api, row),
		api.getRouter(row.router_id),
		addedParts(db, api, row),
		store.find(db, sha256(next)),
		context.codes.of(token, row)
	]);
	if (!part) return null;
	const [first = part, ...others] = await Promise.all(
		[part, ...added].map(async (one): Promise<PurchasePart> => ({
			...one,
			session: await shownSession(context.readExtended, one.session)
		}))
	);
	return { ...first, router, added: others, successor: successor?.session_id == null ? null : next, code };
}

/** A new order cancels such a session first, so that a late payment for it is refunded. */
const isUnpaid = ({ status }: SessionBody) => status === 'pending_payment' || status === 'cancelled';

/** The request may have taken effect; one that was limited did not. */
const isUnanswered = (error: unknown) => error instanceof ApiUnavailable && !(error instanceof ApiLimited);

const NEEDS_NEW_SESSION: readonly string[] = ['session_not_payable', 'payment_attempts_exceeded'];
