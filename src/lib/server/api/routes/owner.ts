import { getEarnings, listOwnerUsers, setRouterPrice } from '../contract/routes.ts';
import { endpoint } from '../endpoint.ts';
import { listBody, nextLink } from '../http/list.ts';

export const owner = [
	/** GET /v1/owner/earnings: what the caller's routers earned, by day, week or month. */
	endpoint(getEarnings, async ({ app, caller, query }) => ({
		body: await app.earnings.summary(caller, query)
	})),
	/** GET /v1/owner/users: active and expired sessions on the caller's routers, newest first. */
	endpoint(listOwnerUsers, async ({ app, caller, query, context }) => {
		const { status, limit, cursor } = query;
		const filters = ['owner/users', caller.accountId, status ?? null];
		const after = cursor === undefined ? null : app.cursors.decode(cursor, filters);
		const found = await app.sessions.listForOwner(caller, { group: status ?? null, limit, after });
		const page = listBody(app.cursors, found, filters);
		return { body: { ...page, counts: found.counts }, headers: nextLink(context.req.url, page.next_cursor) };
	}),
	/** PUT /v1/owner/routers/{id}/price: the hourly price of new sessions, from now on. */
	endpoint(setRouterPrice, async ({ app, caller, params, body }) => ({
		body: await app.routers.setPrice(caller, params.id, body.price)
	}))
];
