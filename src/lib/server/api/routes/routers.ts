import { getRouter, listRouters } from '../contract/routes.ts';
import { endpoint } from '../endpoint.ts';
import { listBody, nextLink } from '../http/list.ts';

export const routers = [
	/** GET /v1/routers: routers near a position, nearest first. */
	endpoint(listRouters, async ({ app, query, context }) => {
		const { lat, lon, radius, limit, cursor } = query;
		const filters = ['routers', lat, lon, radius];
		const after = cursor === undefined ? null : app.cursors.decode(cursor, filters);
		const found = await app.routers.list({ lat, lon, radius, limit, after });
		const page = listBody(app.cursors, found, filters);
		return {
			body: { ...page, radius, radius_unit: 'm' as const },
			headers: nextLink(context.req.url, page.next_cursor)
		};
	}),
	/** GET /v1/routers/{id} */
	endpoint(getRouter, async ({ app, caller, params }) => ({
		body: await app.routers.read(caller, params.id)
	}))
];
