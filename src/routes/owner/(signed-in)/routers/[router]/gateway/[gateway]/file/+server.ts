import { configFile } from '#lib/server/web/owner/gateway/gateway-page.ts';
import { routerForm } from '#lib/server/web/owner/owner.ts';
import type { RequestHandler } from './$types';

/** Downloads a file of the configuration. POST, because it holds secrets. */
export const POST: RequestHandler = routerForm(configFile);
