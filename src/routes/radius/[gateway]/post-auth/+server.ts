import type { RequestHandler } from './$types';
import { postAuth } from '#lib/server/web/device-endpoints/radius.ts';

/** POST /radius/{key}/post-auth: for rlm_rest of FreeRADIUS. */
export const POST: RequestHandler = (event) => postAuth(event);
