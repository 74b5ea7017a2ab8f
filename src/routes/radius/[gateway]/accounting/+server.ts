import type { RequestHandler } from './$types';
import { accounting } from '#lib/server/web/machines/radius.ts';

/** POST /radius/{key}/accounting: a connection began, goes on or is over. */
export const POST: RequestHandler = (event) => accounting(event);
