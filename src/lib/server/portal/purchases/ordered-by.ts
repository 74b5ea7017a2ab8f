import type { ApiClient } from '../api-client.ts';
import { PURCHASE_TOKEN_PATTERN } from '#lib/server/platform/ids.ts';
import { sha256 } from '#lib/server/platform/secrets.ts';
import { isRefusal, PaidMeanwhile, successorToken, tokenOfForm, type PurchaseForm } from './ordering.ts';
import type { PurchasesContext } from './purchases.ts';
import * as store from './store.ts';
import { partOf } from './views.ts';

/**
 * Returns the token of what a form has ordered already, if nothing says that nothing was paid; null if there is none.
 * @param form if complete: it may be another order from the page that made `token`
 */
export async function orderedBy(
	context: PurchasesContext,
	api: ApiClient,
	token: string,
	form: PurchaseForm | null
): Promise<string | null> {
	if (form && (await mayBePaid(context, api, tokenOfForm(token, form)))) return tokenOfForm(token, form);
	return (await mayBePaid(context, api, token)) ? token : null;
}

/** For a purchase or added time: not all payments have failed, or it was paid again. Waits for an order that is being placed. */
async function mayBePaid(context: PurchasesContext, api: ApiClient, token: string): Promise<boolean> {
	const { db } = context.database;
	const read = () => store.find(db, sha256(token));
	const row = PURCHASE_TOKEN_PATTERN.test(token) ? await read() : null;
	if (!row || context.isApiBuyer(row)) return false;
	const isRefused = await context.completing.get(row.id)?.then(
		() => false,
		(error: unknown) => isRefusal(error) && !(error instanceof PaidMeanwhile)
	);
	// Its row is deleted in a moment.
	if (isRefused) return false;
	const ordered = await read();
	const part = ordered && (await partOf(db, api, ordered));
	if (ordered?.session_id == null || !part) return false;
	if ([part.payment, ...part.otherPayments].some((payment) => payment?.status !== 'failed')) return true;
	return (await store.find(db, sha256(successorToken(token, ordered.session_id)))) !== null;
}
