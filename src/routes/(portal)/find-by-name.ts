import type { Position } from '#lib/domain/geo.ts';
import type { ApiClient } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';

/** Needs no geocoder: "Makerere" finds a router in Makerere Hill Road. */

const RADIUS_METRES = 50_000;
const PAGE_SIZE = 100;
/** Pages to search, nearest routers first; farther ones in a large city need a position. */
const MAX_PAGES = 5;

/** Reduces a text to lower-case letters and digits without accents, with single spaces. */
const fold = (text: string) =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.toLowerCase()
		.replace(/[^\p{L}\p{N}]+/gu, ' ')
		.trim();

/** Finds the nearest router whose name, address or network contains every word, or null. */
export async function findByName(api: ApiClient, around: Position, text: string): Promise<RouterBody | null> {
	const words = fold(text).split(' ').filter(Boolean);
	if (words.length === 0) return null;
	const holdsAll = ({ name, address, ssid }: RouterBody) => {
		const place = fold(`${name} ${address ?? ''} ${ssid}`);
		return words.every((word) => place.includes(word));
	};
	let cursor: string | null = null;
	for (let page = 0; page < MAX_PAGES; page += 1) {
		const list = await api.listRouters({
			lat: around.lat,
			lon: around.lon,
			radius: RADIUS_METRES,
			limit: PAGE_SIZE,
			...(cursor === null ? {} : { cursor })
		});
		const found = list.data.find(holdsAll);
		if (found) return found;
		cursor = list.next_cursor;
		if (cursor === null) break;
	}
	return null;
}
