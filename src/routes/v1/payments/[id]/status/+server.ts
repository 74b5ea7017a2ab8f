import { getPaymentStatus } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** GET /v1/payments/{id}/status: at once, or with `wait` as soon as the status leaves `pending`. */
export const GET = endpoint(getPaymentStatus, async ({ app, caller, params, query, signal }) => ({
	body: await app.payments.read(caller, params.id, { seconds: query.wait, signal })
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
