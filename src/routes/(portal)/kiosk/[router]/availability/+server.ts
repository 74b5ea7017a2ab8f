import { purchaseToken } from '#lib/server/platform/secrets.ts';
import { readAvailability } from '#lib/server/web/portal/kiosk.ts';
import { answerJson } from '#lib/server/web/portal/pages.ts';
import type { RequestHandler } from './$types';

/**
 * Returns `{ availability }`: the router with its prices, if the kiosk can sell. `purchase` is the token that pages of
 * the version before need until they are idle and load this one.
 */
export const GET: RequestHandler = async (event) =>
	answerJson({
		availability: await readAvailability(event),
		purchase: purchaseToken()
	});
