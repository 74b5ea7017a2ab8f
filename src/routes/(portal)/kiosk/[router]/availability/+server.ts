import { purchaseToken } from '#lib/server/platform/ids.ts';
import { readAvailability } from '#lib/server/web/portal/kiosk/availability.ts';
import { answer } from '#lib/server/web/portal/status.ts';
import type { RequestHandler } from './$types';

/**
 * Returns `{ availability }`: the router with its prices, if the kiosk can sell. `purchase` is the token that pages of
 * the version before need until they are idle and load this one.
 */
export const GET: RequestHandler = async (event) =>
	answer({
		availability: await readAvailability(event),
		purchase: purchaseToken()
	});
