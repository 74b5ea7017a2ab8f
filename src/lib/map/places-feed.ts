import type { Area } from './area.ts';
import type { Position } from '../domain/geo.ts';

/**
 * The places around the list's, page after page while the map stands still. The list is already there: whatever
 * does not come here is only not on the map.
 */

export interface FedPlace extends Position {
	id: number;
	name: string;
	price: string;
	online: boolean;
}

export interface PlacesFeed {
	/** Reads an area, unless it has been read or is being read; another one is given up for it. */
	look(area: Area): void;
	/** Everything that was read and is kept, by id. */
	readonly places: ReadonlyMap<number, FedPlace>;
	stop(): void;
}

/** One answer of `/places`. */
interface Page {
	places: [id: number, name: string, lat: number, lon: number, price: string, online: 0 | 1][];
	next: string | null;
}

/** 5,000 places: the most that is drawn. */
const MAX_PLACES = 5_000;
const MAX_PAGES = 50;
/** On a link that is slow, or where people pay for each byte. */
const MAX_PAGES_SLOW = 3;
/** Between the first page, which shows at once, and the last one the map is made anew this seldom. */
const PAGES_A_STEP = 10;
const PAUSE_MS = 30_000;
/** Prices and places change seldom. */
const KEPT_MS = 5 * 60 * 1000;

/** @param onPlaces more places are there; not called for each page */
export function createPlacesFeed(address: string, onPlaces: () => void): PlacesFeed {
	const places = new Map<number, FedPlace>();
	/** Areas that were read, and when. */
	const read = new Map<string, number>();
	let pausedUntil = 0;
	let current: { key: string; stop: AbortController } | null = null;

	async function readArea(area: Area, key: string, signal: AbortSignal): Promise<void> {
		let cursor: string | null = null;
		for (let page = 1; page <= maxPages(); page += 1) {
			const found: Page | 'pause' = await fetchPage(address, area, cursor, signal);
			if (found === 'pause') {
				pausedUntil = Date.now() + PAUSE_MS;
				return onPlaces();
			}
			for (const [id, name, lat, lon, price, online] of found.places) {
				places.delete(id);
				places.set(id, { id, name, lat, lon, price, online: online === 1 });
			}
			forgetOldest();
			cursor = found.next;
			if (page === 1 || page % PAGES_A_STEP === 0) onPlaces();
			if (cursor === null) break;
		}
		read.set(key, Date.now());
		onPlaces();
	}

	function forgetOldest(): void {
		for (const id of places.keys()) {
			if (places.size <= MAX_PLACES) return;
			places.delete(id);
			// What is no longer complete is read again when somebody looks there.
			read.clear();
		}
	}

	return {
		places,
		look(area) {
			const key = `${area.lat} ${area.lon} ${area.radius}`;
			if (current?.key === key) return;
			current?.stop.abort();
			current = null;
			const now = Date.now();
			if (now < pausedUntil || now - (read.get(key) ?? 0) < KEPT_MS) return;
			const mine = { key, stop: new AbortController() };
			current = mine;
			const done = () => {
				if (current === mine) current = null;
			};
			readArea(area, key, mine.stop.signal).then(done, done);
		},
		stop: () => current?.stop.abort()
	};
}

/** `pause` when the service has said enough for now. @throws when it was given up, or nothing came */
async function fetchPage(
	address: string,
	{ lat, lon, radius }: Area,
	cursor: string | null,
	signal: AbortSignal
): Promise<Page | 'pause'> {
	const query = new URLSearchParams({ lat: String(lat), lon: String(lon), radius: String(radius) });
	if (cursor !== null) query.set('cursor', cursor);
	const response = await fetch(`${address}?${query}`, { signal });
	return response.ok ? ((await response.json()) as Page) : 'pause';
}

/** Chromium alone says how good the link is. */
function maxPages(): number {
	const { connection } = navigator as { connection?: { saveData?: boolean; effectiveType?: string } };
	const isSlow = connection?.saveData === true || /2g/.test(connection?.effectiveType ?? '');
	return isSlow ? MAX_PAGES_SLOW : MAX_PAGES;
}
