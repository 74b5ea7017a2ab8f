import type { RequestHandler } from './$types';
import { authorize } from '#lib/server/web/machines/radius.ts';

/** POST /radius/{key}/authorize: what the RADIUS server of a gateway must know to check a password. */
export const POST: RequestHandler = (event) => authorize(event);
