import { readAvailability } from '../availability.ts';
import { answer } from '../answers.ts';
import type { RequestHandler } from './$types';

/** `{ availability, purchase }`: the router and its prices, and the token for a purchase. */
export const GET: RequestHandler = async (event) =>
	answer({ availability: await readAvailability(event), purchase: event.locals.app.purchases.newToken() });
