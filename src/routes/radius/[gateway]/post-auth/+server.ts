import type { RequestHandler } from './$types';
import { postAuth } from '#lib/server/web/machines/radius.ts';

/** POST /radius/{key}/post-auth: a password was right; the device takes its place. */
export const POST: RequestHandler = (event) => postAuth(event);
