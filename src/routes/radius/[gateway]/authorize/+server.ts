import type { RequestHandler } from './$types';
import { authorize } from '#lib/server/web/device-endpoints/radius.ts';

/** POST /radius/{key}/authorize: for rlm_rest of FreeRADIUS. */
export const POST: RequestHandler = (event) => authorize(event);
