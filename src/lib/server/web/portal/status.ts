import type { RequestEvent } from '@sveltejs/kit';
import { apiClient, ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { purchaseShown, type Purchase, type PurchaseShown } from './purchase/purchase-shown.ts';
import { awaitPurchase } from '#lib/server/portal/purchases.ts';

/** The longest wait for a change, in seconds; the same as the API's limit. */
const MAX_WAIT_SECONDS = 20;

export const answer = (body: object, status = 200, headers: Record<string, string> = {}) =>
	Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Answers while the service is unavailable; the page retries. @throws other errors */
export function unanswered(problem: unknown): Response {
	if (problem instanceof ApiLimited) {
		return answer({ state: null }, 503, { 'retry-after': String(problem.retryAfterSeconds) });
	}
	if (problem instanceof ApiUnavailable || problem instanceof ApiProblem) return answer({ state: null }, 503);
	throw problem;
}

/** Answers `?wait=` with a `{ state }` that changes when there is something new to show. */
export async function answerState(
	event: RequestEvent,
	token: string,
	stateOf: (shown: PurchaseShown, purchase: Purchase) => string | Promise<string>
): Promise<Response> {
	const { app } = event.locals;
	const asked = event.url.searchParams.get('wait') ?? '';
	const wait = /^\d{1,3}$/.test(asked) ? Math.min(Number(asked), MAX_WAIT_SECONDS) : 0;
	try {
		const found = await awaitPurchase(app.purchases, apiClient(event), token, wait);
		if (!found) return answer({ state: null }, 404);
		if (found.successor !== null) return answer({ state: 'replaced' });
		return answer({ state: await stateOf(purchaseShown(app, found), found) });
	} catch (problem) {
		return unanswered(problem);
	}
}
