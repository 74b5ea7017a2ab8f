import { listRouters } from '#lib/server/contract/routes.ts';
import { endpoint, unknownRoute } from '#lib/server/http/endpoint.ts';
import { listBody, nextLink } from '#lib/server/http/list.ts';

/** GET /v1/routers: routers near a position, nearest first. */
export const GET = endpoint(listRouters, async ({ app, query, search }) => {
	const { lat, lon, radius, limit, cursor } = query;
	const filters = ['routers', lat, lon, radius];
	const after = cursor === undefined ? null : app.cursors.decode(cursor, filters);
	const found = await app.routers.list({ lat, lon, radius, limit, after });
	const page = listBody(app.cursors, found, filters);
	return {
		body: { ...page, radius, radius_unit: 'm' as const },
		headers: nextLink(search, page.next_cursor)
	};
});

export const fallback = unknownRoute;
export const trailingSlash = 'ignore';
