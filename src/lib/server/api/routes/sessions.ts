import { createSession, endSession, getSession } from '../contract/routes.ts';
import { endpoint } from '../endpoint.ts';

export const sessions = [
	/** POST /v1/sessions: orders time; charges nothing. */
	endpoint(createSession, async ({ app, caller, body, remember }) => ({
		body: await app.sessions.create(caller, body, remember)
	})),
	/** GET /v1/sessions/{id}: the session, with its password while it is active. */
	endpoint(getSession, async ({ app, caller, params }) => ({
		body: await app.sessions.read(caller, params.id)
	})),
	/** DELETE /v1/sessions/{id}: ends an active session, cancels an unpaid one. A body is ignored. */
	endpoint(endSession, async ({ app, caller, params, query }) => ({
		body: await app.sessions.end(caller, params.id, query.if_status)
	}))
];
