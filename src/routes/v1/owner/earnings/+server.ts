import { getEarnings } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** GET /v1/owner/earnings: what the caller's routers earned, by day, week or month. */
export const GET = endpoint(getEarnings, async ({ app, caller, query }) => ({
	body: await app.earnings.summary(caller, query)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
