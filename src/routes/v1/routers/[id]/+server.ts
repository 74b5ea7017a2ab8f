import { getRouter } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** GET /v1/routers/{id} */
export const GET = endpoint(getRouter, async ({ app, caller, params }) => ({
	body: await app.routers.read(caller, params.id)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
