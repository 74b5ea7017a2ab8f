import { createSession } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** POST /v1/sessions: orders time; charges nothing. */
export const POST = endpoint(createSession, async ({ app, caller, body }) => {
	const session = await app.sessions.create(caller, body);
	return { body: session, location: `/v1/sessions/${session.id}` };
});

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
