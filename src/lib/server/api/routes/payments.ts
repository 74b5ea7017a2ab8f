import { getPaymentStatus, startPayment } from '../contract/routes.ts';
import { endpoint } from '../endpoint.ts';

export const payments = [
	/** POST /v1/payments/mobile-money: asks the payer to pay for a session. */
	endpoint(startPayment, async ({ app, caller, body, remember }) => ({
		body: await app.payments.start(caller, body, remember)
	})),
	/** GET /v1/payments/{id}/status: at once, or with `wait` as soon as the status leaves `pending`. */
	endpoint(getPaymentStatus, async (call) => {
		const { app, caller, params, query } = call;
		const wait = query.wait > 0 ? { seconds: query.wait, signal: call.context.req.raw.signal } : undefined;
		return { body: await app.payments.read(caller, params.id, wait) };
	})
];
