import { setRouterPrice } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** PUT /v1/owner/routers/{id}/price: the hourly price of new sessions, from now on. */
export const PUT = endpoint(setRouterPrice, async ({ app, caller, params, body }) => ({
	body: await app.routers.setPrice(caller, params.id, body.price)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
