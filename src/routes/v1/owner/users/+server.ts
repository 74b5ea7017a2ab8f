import { listOwnerUsers } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';
import { listBody, nextLink } from '#lib/server/http/list.ts';

/** GET /v1/owner/users: active and expired sessions on the caller's routers, newest first. */
export const GET = endpoint(listOwnerUsers, async ({ app, caller, query, search }) => {
	const { status, limit, cursor } = query;
	const filters = ['owner/users', caller.accountId, status ?? null];
	const after = cursor === undefined ? null : app.cursors.decode(cursor, filters);
	const found = await app.sessions.listForOwner(caller, { group: status ?? null, limit, after });
	const page = listBody(app.cursors, found, filters);
	return { body: { ...page, counts: found.counts }, headers: nextLink(search, page.next_cursor) };
});

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
