import { readTill } from '../till.ts';
import { told } from '../told.ts';
import type { RequestHandler } from './$types';

/** `{ till, purchase }`: what can be bought here now, and the token of a purchase that may be begun with it. */
export const GET: RequestHandler = async (event) =>
	told({ till: await readTill(event), purchase: event.locals.app.purchases.newToken() });
