import { registerWebhook } from '../contract/routes.ts';
import { endpoint } from '../endpoint.ts';

export const webhooks = [
	/** POST /v1/webhooks/register: 201 with the secret, or 200 for a URL that was registered before. */
	endpoint(registerWebhook, async ({ app, caller, body, context, remember }) => {
		const { host } = new URL(context.req.url);
		const registered = await app.webhooks.register(caller, body, host, remember);
		return { body: registered.body, status: registered.created ? 201 : 200 };
	})
];
