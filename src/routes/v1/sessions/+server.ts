import { createSession } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** POST /v1/sessions: orders time; charges nothing. */
export const POST = endpoint(createSession, async ({ app, caller, body, remember }) => ({
	body: await app.sessions.create(caller, body, remember)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
