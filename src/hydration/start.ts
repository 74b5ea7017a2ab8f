/**
 * What makes a page come alive in a browser, in place of SvelteKit's own start: every address of the portal is asked
 * for anew (`data-sveltekit-reload` in app.html), so a buyer's page needs its components brought to life and none of
 * the rest, which is a quarter of its script (src/hydration/plugin.ts). Pages that change their address without being
 * loaded anew say so, `export const _navigates = true` in their +page.ts, and get SvelteKit's start.
 */

/** A page, a layout or an error page as the build made it. */
export interface PageNode {
	component: unknown;
	universal?: {
		_navigates?: boolean;
		/** Of the browser's half of loading only the server's data is at hand. */
		load?(event: { data: Data | null }): Promise<Data> | Data;
	};
}

type Data = Record<string, unknown>;
type NodeLoader = () => Promise<PageNode>;

/** SvelteKit's generated entry/app.js, as far as it is used here. */
export interface PageApp {
	nodes: Record<number, NodeLoader>;
	hooks: { init?: () => Promise<void> | void };
	root: new (options: { target: Element; props: Data; hydrate: boolean; sync: boolean }) => unknown;
}

/** What the server wrote into the page for its start. */
export interface Hydration {
	/** Layouts from the outside to the inside, then the page. */
	node_ids: number[];
	data: ({ type: string; data: Data } | null)[];
	form: unknown;
	error: unknown;
	status?: number;
	params?: Record<string, string>;
	/** Missing where no route answers to the address. */
	server_route?: { id: string; nodes: Record<number, NodeLoader> };
}

/** What only SvelteKit has. */
export interface Kit {
	/** Its own start, with its router; a file of its own. */
	whole(): Promise<{ start(app: PageApp, target: Element, hydration: Hydration): Promise<void> }>;
	/** Sets what `page` of `$app/state` says. */
	update(page: Data): void;
}

/** Of the stores that the generated root asks for: nobody listens. */
const silent = { set() {}, notify() {}, subscribe: () => () => {} };

/** @throws what a file says that does not come: the page stays as the server wrote it, and works without script */
export async function start(kit: Kit, app: PageApp, target: Element, hydration: Hydration): Promise<void> {
	const { node_ids: ids, server_route: route, params = {}, status = 200, error } = hydration;
	const form = hydration.form ?? null;
	await app.hooks.init?.();
	const nodes = await Promise.all(ids.map((id) => (app.nodes[id] ?? route?.nodes[id])?.()));
	if (nodes.some((node) => node?.universal?._navigates)) {
		return (await kit.whole()).start(app, target, hydration);
	}
	const own = await Promise.all(
		nodes.map((node, index) => {
			const data = hydration.data[index]?.data ?? null;
			return node?.universal?.load ? node.universal.load({ data }) : data;
		})
	);
	const props: Data = { constructors: nodes.map((node) => node?.component), components: [], form };
	let data: Data = {};
	own.forEach((part, index) => {
		data = { ...data, ...part };
		props[`data_${index}`] = data;
	});
	const page = {
		data,
		error,
		form,
		params,
		route: { id: route?.id ?? null },
		state: {},
		status,
		url: new URL(location.href)
	};
	kit.update(page);
	new app.root({
		target,
		props: { ...props, page, stores: { page: silent } },
		hydrate: true,
		sync: false
	});
}
