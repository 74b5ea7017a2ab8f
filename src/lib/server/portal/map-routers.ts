import type { Area } from '#lib/map/area.ts';
import type { Config } from '../config/config.ts';
import type { Clock } from '../platform/clock.ts';
import { type ApiClient, createQuota } from './api-client.ts';

type Api = Pick<ApiClient, 'listRouters'>;
/** Returns the lowest price of the offers of a router; null without any. */
type Lowest = (router: Router) => number | null;
type Router = Awaited<ReturnType<ApiClient['listRouters']>>['data'][number];

interface RoutersPage {
	routers: (Pick<Router, 'id' | 'name' | 'address' | 'lat' | 'lon' | 'price' | 'currency' | 'status'> & {
		lowest: number | null;
	})[];
	next: string | null;
}

const PAGE_SIZE = 100;
const KEPT_MS = 60 * 1000;
/** Pages of at most 100 routers: a few megabytes. */
const MAX_KEPT = 300;
/** The map's share of the rate limit of a remote API. */
const PART = 1 / 4;

/**
 * Reads routers for the map through the public API and caches pages for all visitors.
 * The map may use only a share of the rate limit of a remote API, so that purchases always get through.
 */
export function createMapRouters(config: Config, clock: Clock) {
	const quota = createQuota(PART, config, clock);
	const kept = new Map<string, { at: number; page: Promise<RoutersPage> }>();

	async function read(api: Api, area: Area, cursor: string | null, lowest: Lowest): Promise<RoutersPage> {
		quota.take();
		const query = { ...area, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) };
		const { data, next_cursor: next } = await api.listRouters(query);
		const routers = data.map((router) => {
			const { id, name, address, lat, lon, price, currency, status } = router;
			return { id, name, address, lat, lon, price, currency, status, lowest: lowest(router) };
		});
		return { routers, next };
	}

	return {
		/** Nearest to the centre first. @throws Unavailable if the map's share is used up */
		page(api: Api, area: Area, cursor: string | null, lowest: Lowest): Promise<RoutersPage> {
			const key = JSON.stringify([area.lat, area.lon, area.radius, cursor]);
			const now = clock.now();
			const known = kept.get(key);
			if (known && known.at > now - KEPT_MS && known.at <= now) return known.page;
			const page = read(api, area, cursor, lowest);
			kept.delete(key);
			kept.set(key, { at: now, page });
			const [oldest] = kept.keys();
			if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
			page.catch(() => kept.delete(key));
			return page;
		}
	};
}
