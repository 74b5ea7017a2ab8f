import { router as example, routerPage } from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import { router, routerList, routerListQuery } from '#lib/server/contract/router.ts';
import { endpoint } from '../endpoint.ts';
import { listPage } from '../http/list.ts';
import { routersJson } from '../http/routers-json.ts';
import { defineRoute, json } from '../route.ts';

export const listRouters = defineRoute({
	method: 'get',
	path: '/routers',
	operationId: 'listRouters',
	tags: ['Routers'],
	summary: 'List the routers near a location',
	description:
		'Lists the routers within `radius` metres of a location (great-circle distance), nearest first. Offline routers are included, disabled ones are not. Values out of range are refused, never clamped.',
	scope: 'routers:read',
	request: { query: routerListQuery },
	responses: {
		200: json(routerList, 'The routers of this page; an empty list if there are none.', {
			last_page: ['One router, and no further page', routerPage()],
			first_page: ['A page with `limit=1`, and another after it', routerPage(true)],
			nothing: ['No router within the radius', { ...routerPage(), data: [] }]
		})
	}
});

export const getRouter = defineRoute({
	method: 'get',
	path: '/routers/{id}',
	operationId: 'getRouter',
	tags: ['Routers'],
	summary: 'Read one router',
	description:
		'Reads one router. A disabled router is not found, except by the account that owns it and by accounts that have ordered there.',
	scope: 'routers:read',
	errors: ['router_not_found'],
	request: { params: idParams('Id of the router.', 42) },
	responses: {
		200: json(router, 'The router; `distance` is null.', { router: ['A router that sells time', example] })
	}
});

export const routers = [
	endpoint(listRouters, async (call) => {
		const { lat, lon, radius, limit, name } = call.query;
		const filters = ['routers', lat, lon, radius, ...(name === undefined ? [] : [name])];
		const { page, headers } = await listPage(call, filters, (after) =>
			call.app.routers.list({ lat, lon, radius, limit, after, name })
		);
		const body = { ...page, radius, radius_unit: 'm' as const };
		return { body, json: routersJson(body), headers };
	}),
	endpoint(getRouter, async ({ app, caller, params }) => ({
		body: await app.routers.read(caller, params.id)
	}))
];
