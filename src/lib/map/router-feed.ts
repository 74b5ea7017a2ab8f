import type { Area } from './area.ts';
import type { Position } from '../domain/geo.ts';
import type { MapView } from './create-map.ts';

/** Reads the routers around those of the list, page by page, while the map is still. */

export interface MapRouter extends Position {
	id: number;
	name: string;
	/** As a postal address; empty if the owner gave none. */
	address: string;
	/** Of a closed router: that it is closed. Empty if it is offline. */
	price: string;
	/** The amount of the price alone, for its mark. Empty if it is closed or offline. */
	mark: string;
	online: boolean;
}

/** What the map's script gets with the list page, in `data-map`. */
export interface MapSettings extends MapView {
	routers: MapRouter[];
	/** Address of the list, to which a position is added. */
	list: string;
	/** Address of a router's page, to which its id is added. */
	router: string;
	/** Address of `/map-routers`, to which an area is added. */
	feed: string;
	texts: MapTexts;
}

/** Texts of the page's language, with the placeholders {count}, {name} and {price}. */
export interface MapTexts {
	label: string;
	zoomIn: string;
	zoomOut: string;
	searchHere: string;
	group: string;
	router: string;
	offlineRouter: string;
	offline: string;
	inView: string;
	buy: string;
	buyThere: string;
	close: string;
}

export const fill = (text: string, values: Record<string, string>): string =>
	text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

interface Page {
	routers: [
		...[id: number, name: string, lat: number, lon: number],
		...[price: string, online: 0 | 1, mark: string, address: string]
	][];
	next: string | null;
}

const MAX_ROUTERS = 5_000;
const MAX_PAGES = 50;
/** On a slow or metered connection. */
const MAX_PAGES_SLOW = 3;
/** Redraws the map after the first page, after each of this many, and after the last. */
const PAGES_A_STEP = 10;
/** Prices and routers change seldom. */
const KEPT_MS = 5 * 60 * 1000;

/** @param onRouters called when there are more routers, but not for each page */
export function createRouterFeed(address: string, onRouters: () => void) {
	const routers = new Map<number, MapRouter>();
	const read = new Map<string, number>();
	let current: { key: string; stop: AbortController } | null = null;

	async function readArea(area: Area, key: string, signal: AbortSignal): Promise<void> {
		let cursor: string | null = null;
		for (let page = 1; page <= maxPages(); page += 1) {
			const found: Page = await fetchPage(address, area, cursor, signal);
			for (const [id, name, lat, lon, price, online, mark, address] of found.routers) {
				routers.delete(id);
				routers.set(id, { id, name, lat, lon, price, mark, address, online: online === 1 });
			}
			forgetOldest();
			cursor = found.next;
			if (page === 1 || page % PAGES_A_STEP === 0) onRouters();
			if (cursor === null) break;
		}
		read.set(key, Date.now());
	}

	function forgetOldest(): void {
		for (const id of routers.keys()) {
			if (routers.size <= MAX_ROUTERS) return;
			routers.delete(id);
			// The areas are incomplete now.
			read.clear();
		}
	}

	return {
		routers: routers as ReadonlyMap<number, MapRouter>,
		/** Reads an area unless it is known or being read. Cancels the reading of another area. */
		look(area: Area): void {
			const key = `${area.lat} ${area.lon} ${area.radius}`;
			if (current?.key === key) return;
			current?.stop.abort();
			current = null;
			if (Date.now() - (read.get(key) ?? 0) < KEPT_MS) return;
			const mine = { key, stop: new AbortController() };
			current = mine;
			const done = () => {
				if (current === mine) current = null;
				onRouters();
			};
			readArea(area, key, mine.stop.signal).then(done, done);
		}
	};
}

/** @throws if it was cancelled, or if the service limits the map */
async function fetchPage(
	address: string,
	{ lat, lon, radius }: Area,
	cursor: string | null,
	signal: AbortSignal
): Promise<Page> {
	const query = new URLSearchParams({ lat: String(lat), lon: String(lon), radius: String(radius) });
	if (cursor !== null) query.set('cursor', cursor);
	const response = await fetch(`${address}${query}`, { signal });
	if (!response.ok) throw new Error(`The routers did not come: ${response.status}`);
	return (await response.json()) as Page;
}

/** Only Chromium reports the quality of the connection. */
function maxPages(): number {
	const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } };
	const isSlow = connection?.saveData === true || /2g/.test(connection?.effectiveType ?? '');
	return isSlow ? MAX_PAGES_SLOW : MAX_PAGES;
}
