import { router as example, routerPage } from '#lib/server/contract/examples.ts';
import { idParams } from '#lib/server/contract/fields.ts';
import {
	type RouterBody,
	type RouterListBody,
	router,
	routerList,
	routerListQuery
} from '#lib/server/contract/router.ts';
import { endpoint, listPage } from './call.ts';
import { defineRoute, describeJson } from './route.ts';
import { listNearbyRouters, readRouter } from '../routers/routers.ts';

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
		200: describeJson(routerList, 'The routers of this page; an empty list if there are none.', {
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
		200: describeJson(router, 'The router; `distance` is null.', {
			router: ['A router that sells time', example]
		})
	}
});

export const routers = [
	endpoint(listRouters, async (call) => {
		const { lat, lon, radius, limit, name } = call.query;
		const filters = ['routers', lat, lon, radius, ...(name === undefined ? [] : [name])];
		const { body: page, headers } = await listPage(call, filters, (after) =>
			listNearbyRouters(call.app.routers, { lat, lon, radius, limit, after, name })
		);
		const body = { ...page, radius, radius_unit: 'm' as const };
		return { body, json: formatRoutersJson(body), headers };
	}),
	endpoint(getRouter, async ({ app, caller, params }) => ({
		body: await readRouter(app.routers, caller, params.id)
	}))
];

/** JSON by list of offers. The service reuses a list while it stays the same (routers/offer-list.ts). */
const offersJson = new WeakMap<RouterBody['offers'], string>();

/** Between two members of a router. No string value holds it, because JSON escapes quotes. */
const NO_OFFERS = '"offers":[]';

/** Writes `JSON.stringify(list)`. Offers are most of its text, and the same for many routers, so each list is written once. */
export function formatRoutersJson(list: RouterListBody): string {
	const [head = '', ...rests] = JSON.stringify({
		...list,
		data: list.data.map((router) => ({ ...router, offers: [] }))
	}).split(NO_OFFERS);
	return rests.reduce(
		(text, rest, index) => `${text}"offers":${formatOffers(list.data[index]?.offers ?? [])}${rest}`,
		head
	);
}

function formatOffers(offers: RouterBody['offers']): string {
	const known = offersJson.get(offers);
	if (known !== undefined) return known;
	const text = JSON.stringify(offers);
	offersJson.set(offers, text);
	return text;
}
