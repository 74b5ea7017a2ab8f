import { apiClient, ApiLimited, ApiProblem, ApiUnavailable } from '#lib/server/portal/api-client.ts';
import { deviceOf, watchText } from '../go-online.ts';
import { purchaseShown } from '../view.ts';
import type { RequestHandler } from './$types';

/** The longest wait for a change, in seconds; the same as the API's limit. */
const MAX_WAIT_SECONDS = 20;

const answer = (body: object, status = 200, headers: Record<string, string> = {}) =>
	Response.json(body, { status, headers: { 'cache-control': 'no-store', ...headers } });

/** Returns a `{ state }` that changes when there is something new to show. */
export const GET: RequestHandler = async (event) => {
	const { clock, config, purchases } = event.locals.app;
	const asked = event.url.searchParams.get('wait') ?? '';
	const wait = /^\d{1,3}$/.test(asked) ? Math.min(Number(asked), MAX_WAIT_SECONDS) : 0;
	try {
		const found = await purchases.wait(apiClient(event), event.params.token, wait);
		if (!found) return answer({ state: null }, 404);
		if (found.successor !== null) return answer({ state: 'replaced' });
		const { pass, watch } = purchaseShown(found, new Date(clock.now()), config.reportTimezone);
		const device = pass && (await deviceOf(event, found.router.id));
		return answer({ state: watchText(watch, device) });
	} catch (problem) {
		if (problem instanceof ApiLimited) {
			return answer({ state: null }, 503, { 'retry-after': String(problem.retryAfterSeconds) });
		}
		if (problem instanceof ApiUnavailable || problem instanceof ApiProblem)
			return answer({ state: null }, 503);
		throw problem;
	}
};
