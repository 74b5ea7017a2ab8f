import { adminPage, describeRouterState } from '#lib/server/web/admin.ts';
import { PAGE_SIZE, idOf, readPage } from '#lib/server/web/page-links.ts';
import type { RequestEvent } from '@sveltejs/kit';
import type { App } from '#lib/server/app.ts';
import { GATEWAY_STATES } from '#lib/server/monitoring.ts';
import { type OwnedRouter, searchRouters } from '#lib/server/routers/routers.ts';
import { findAccount, findAccountByEmail } from '#lib/server/accounts/accounts.ts';
import { findGatewayByName } from '#lib/server/gateways/gateways.ts';

const MAX_TEXT = 254;

/** /admin/routers?find=&gateways=responding|silent|unknown&after=ID: by id. */
export const load = adminPage(async (event) => {
	const { app } = event.locals;
	const search = event.url.searchParams;
	const find = (search.get('find') ?? '')
		.replace(/\p{Cc}+/gu, '')
		.trim()
		.slice(0, MAX_TEXT);
	const gateways = GATEWAY_STATES.find((one) => one === search.get('gateways')) ?? null;
	const ids = gateways && (await app.monitoring.listRouterIds(gateways));
	const list = { parameter: 'after', length: 1, filters: { find: find || null, gateways } } as const;
	const { data, pages } = await readPage(event, list, (at) =>
		ids
			? searchRouters(app.routers, { name: '', ids }, { afterId: at ?? 0, limit: PAGE_SIZE })
			: findRouters(event, find, { afterId: at ?? 0, limit: PAGE_SIZE })
	);
	return { find, gateways, routers: await routerLines(app, data), pages };
});

/** Finds routers by one text: the id, words of the name, address or network, an owner's email address, or a gateway's name. */
async function findRouters(
	{ locals: { app } }: RequestEvent,
	text: string,
	page: { afterId: number; limit: number }
) {
	const { gateways, routers } = app;
	if (text === '') return searchRouters(routers, {}, page);
	const owner = text.includes('@') ? await findAccountByEmail(app, text) : null;
	if (owner) return searchRouters(routers, { ownerAccountId: owner.id }, page);
	const gateway = await findGatewayByName(gateways, text);
	const ids = [idOf(text), gateway?.routerId ?? 0].filter((id) => id > 0);
	return searchRouters(routers, { name: text, ids }, page);
}

async function routerLines(app: App, routers: readonly OwnedRouter[]) {
	const owners = new Map<number, string>();
	for (const id of new Set(routers.map(({ ownerAccountId }) => ownerAccountId))) {
		owners.set(id, (await findAccount(app, id))?.email ?? `account ${id}`);
	}
	return routers.map((router) => ({
		...{ id: router.id, name: router.name, ssid: router.ssid, address: router.address },
		owner: owners.get(router.ownerAccountId) ?? '',
		state: describeRouterState(app, router)
	}));
}
