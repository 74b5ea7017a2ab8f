import { startPayment } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** POST /v1/payments/mobile-money: asks the payer to pay for a session. */
export const POST = endpoint(startPayment, async ({ app, caller, body, remember }) => ({
	body: await app.payments.start(caller, body, remember)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
