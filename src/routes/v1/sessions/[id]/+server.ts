import { endSession, getSession } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';

/** GET /v1/sessions/{id}: the session, with its password while it is active. */
export const GET = endpoint(getSession, async ({ app, caller, params }) => ({
	body: await app.sessions.read(caller, params.id)
}));

/** DELETE /v1/sessions/{id}: ends an active session, cancels an unpaid one. A body is ignored. */
export const DELETE = endpoint(endSession, async ({ app, caller, params, query }) => ({
	body: await app.sessions.end(caller, params.id, query.if_status)
}));

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
