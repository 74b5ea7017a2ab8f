import { ApiProblem, type ApiClient } from '../api-client.ts';
import { readCode } from '#lib/checkout/purchase/code.ts';
import { CODE_MS } from './codes.ts';
import type { PurchasesContext } from './purchases.ts';
import * as store from './store.ts';
import { MAX_ADDED, shownSession, type ShownSession } from './views.ts';

/** Finds the sessions and the page of a purchase, for pages of other people and devices. */

/**
 * Reads the sessions of a purchase, with those of added time, as its page shows them; without those that the API no longer
 * has.
 * @param tokenHash SHA-256 of the purchase's token, hex
 */
export async function sessionsOf(
	context: PurchasesContext,
	api: ApiClient,
	tokenHash: string
): Promise<ShownSession[]> {
	const ids = await sessionIdsOf(context, tokenHash);
	const read = async (id: number): Promise<ShownSession[]> => {
		try {
			return [await shownSession(context.readExtended, await api.getSession(id))];
		} catch (problem) {
			if (problem instanceof ApiProblem && problem.status === 404) return [];
			throw problem;
		}
	};
	return (await Promise.all(ids.map(read))).flat();
}

async function sessionIdsOf({ database: { db } }: PurchasesContext, tokenHash: string): Promise<number[]> {
	const row = await store.find(db, tokenHash);
	const added = row ? await store.addedTo(db, row.id, MAX_ADDED) : [];
	return [row, ...added].flatMap((one) => one?.session_id ?? []);
}

/** Finds the sessions of a typed code, for signed-in people: it reveals neither the token nor the code. */
export async function sessionsOfCode(context: PurchasesContext, typed: string): Promise<number[]> {
	const code = readCode(typed);
	const row = code === null ? null : await context.codes.find(code, context.clock.now() - CODE_MS);
	return row ? sessionIdsOf(context, row.token_hash) : [];
}

/** Finds the purchase with the page of a session. Returns null for a purchase of the API, and if the code is too old. */
export async function pageRowOf(
	{ database: { db }, clock, isApiBuyer }: PurchasesContext,
	sessionId: number
): Promise<store.PurchaseRow | null> {
	const own = await store.findBySession(db, sessionId);
	const row = own?.extends_purchase_id == null ? own : await store.findById(db, own.extends_purchase_id);
	return !row || isApiBuyer(row) || row.updated_at < clock.now() - CODE_MS ? null : row;
}

/**
 * Finds the page of a session's purchase and its code, or returns null.
 * Security: both open the purchase, so the caller checks the person and logs it.
 */
export async function pageOf(
	context: PurchasesContext,
	sessionId: number
): Promise<{ token: string; code: string } | null> {
	const row = await pageRowOf(context, sessionId);
	if (!row) return null;
	const token = context.codes.tokenOf(row);
	return token === null ? null : { token, code: await context.codes.of(token, row) };
}
