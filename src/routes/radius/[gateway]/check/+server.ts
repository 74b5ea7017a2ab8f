import type { RequestHandler } from './$types';
import { check } from '#lib/server/web/device-endpoints/radius.ts';

/** For rlm_rest of FreeRADIUS. */
export const POST: RequestHandler = (event) => check(event);
