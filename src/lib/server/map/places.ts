import type { Area } from '#lib/map/area.ts';
import type { ApiClient } from '../portal/api-client.ts';
import type { Clock } from '../platform/clock.ts';
import type { Config } from '../config/config.ts';
import { createShare } from '../portal/quota.ts';

/**
 * Places for the map, read through the public API by its pages. Looking around must never cost a buyer the call
 * that buys: the map has a share of the portal's limit and no more, and what was just read is read once for all.
 */
export interface Places {
	/**
	 * One page of an area's places, nearest to its centre first.
	 * @throws ApiLimited when the map's share is used up, and what the client throws
	 */
	page(api: Pick<ApiClient, 'listRouters'>, area: Area, cursor: string | null): Promise<PlacesPage>;
}

type Router = Awaited<ReturnType<ApiClient['listRouters']>>['data'][number];

export interface PlacesPage {
	places: Pick<Router, 'id' | 'name' | 'lat' | 'lon' | 'price' | 'currency' | 'status'>[];
	next: string | null;
}

const PAGE_SIZE = 100;
const KEPT_MS = 60 * 1000;
/** Pages of at most 100 places: some megabytes. */
const MAX_KEPT = 300;
/** The map's part of the portal's limit. */
const PART = 1 / 4;

export function createPlaces(config: Config, clock: Clock): Places {
	const share = createShare(PART, config, clock);
	const kept = new Map<string, { at: number; page: Promise<PlacesPage> }>();

	async function read(
		api: Pick<ApiClient, 'listRouters'>,
		area: Area,
		cursor: string | null
	): Promise<PlacesPage> {
		share.take();
		const { data, next_cursor: next } = await api.listRouters({
			...area,
			limit: PAGE_SIZE,
			...(cursor === null ? {} : { cursor })
		});
		const places = data.map(({ id, name, lat, lon, price, currency, status }) => ({
			id,
			name,
			lat,
			lon,
			price,
			currency,
			status
		}));
		return { places, next };
	}

	return {
		page(api, area, cursor) {
			const key = JSON.stringify([area.lat, area.lon, area.radius, cursor]);
			const now = clock.now();
			const known = kept.get(key);
			if (known && known.at > now - KEPT_MS && known.at <= now) return known.page;
			const page = read(api, area, cursor);
			kept.delete(key);
			kept.set(key, { at: now, page });
			const [oldest] = kept.keys();
			if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
			page.catch(() => kept.delete(key));
			return page;
		}
	};
}
