import { consoleKeys } from '#lib/server/web/developer/developer.ts';
import type { RequestHandler } from './$types';

/** GET /docs/api/keys: the demo keys of the API page, or null. */
export const GET: RequestHandler = async (event) =>
	Response.json(await consoleKeys(event), { headers: { 'cache-control': 'no-store' } });
