import type { RequestHandler } from './$types';
import { authorize } from '#lib/server/web/device-endpoints/radius.ts';

/** For rlm_rest of FreeRADIUS. */
export const POST: RequestHandler = (event) => authorize(event);
