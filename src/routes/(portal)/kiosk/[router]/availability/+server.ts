import { readAvailability } from '#lib/server/web/portal/kiosk/availability.ts';
import { answer } from '#lib/server/web/portal/status.ts';
import type { RequestHandler } from './$types';

/** Returns `{ availability, purchase }`: the router with its prices, and a token for a purchase. */
export const GET: RequestHandler = async (event) =>
	answer({ availability: await readAvailability(event), purchase: event.locals.app.purchases.newToken() });
