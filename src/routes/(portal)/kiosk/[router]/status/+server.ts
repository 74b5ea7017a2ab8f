import { readFields } from '#lib/checkout/pay-form.ts';
import { apiClient } from '#lib/server/portal/api-client.ts';
import { readForm } from '../../../api-errors.ts';
import { purchaseShown } from '../../../s/[token]/view.ts';
import { answer, unanswered } from '../answers.ts';
import type { RequestHandler } from './$types';

/** The longest wait for a change, in seconds; the same as the API's limit. */
const MAX_WAIT_SECONDS = 20;

/** Returns a `{ state }` that changes with the screen. Browsers and logs would keep a token in the URL. */
export const POST: RequestHandler = async (event) => {
	const { clock, config, purchases } = event.locals.app;
	const asked = event.url.searchParams.get('wait') ?? '';
	const wait = /^\d{1,3}$/.test(asked) ? Math.min(Number(asked), MAX_WAIT_SECONDS) : 0;
	const { token } = readFields(await readForm(event.request), ['token']);
	try {
		const found = await purchases.wait(apiClient(event), token, wait);
		if (!found) return answer({ state: null }, 404);
		if (found.successor !== null) return answer({ state: 'replaced' });
		return answer({ state: purchaseShown(found, new Date(clock.now()), config.reportTimezone).watch });
	} catch (problem) {
		return unanswered(problem);
	}
};
