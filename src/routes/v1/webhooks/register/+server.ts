import { registerWebhook } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** POST /v1/webhooks/register: 201 with the secret, or 200 for a URL that was registered before. */
export const POST = endpoint(registerWebhook, async ({ app, caller, body, host, remember }) => {
	const registered = await app.webhooks.register(caller, body, host, remember);
	return { body: registered.body, status: registered.created ? 201 : 200 };
});

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
