import type { RequestHandler } from './$types';
import { accounting } from '#lib/server/web/device-endpoints/radius.ts';

/** POST /radius/{key}/accounting: for rlm_rest of FreeRADIUS. */
export const POST: RequestHandler = (event) => accounting(event);
