import type { Position } from '#lib/domain/geo.ts';
import { MAX_QUERY_LENGTH } from '#lib/map/location-query.ts';
import type { ApiClient } from '#lib/server/portal/api-client.ts';
import type { RouterBody } from '#lib/server/api/contract/schemas.ts';

/** Needs no geocoder: "Makerere" finds a router in Makerere Hill Road. */

const RADIUS_METRES = 50_000;

/** Returns the words of a text in lower case without accents. */
const wordsOf = (text: string): string[] =>
	text
		.normalize('NFKD')
		.replace(/\p{M}/gu, '')
		.toLowerCase()
		.match(/[\p{L}\p{N}]+/gu) ?? [];

/** Finds the nearest router whose name, address or network has words that begin with the typed ones, or null. */
export async function findByName(
	api: ApiClient,
	{ lat, lon }: Position,
	text: string
): Promise<RouterBody | null> {
	const name = text.slice(0, MAX_QUERY_LENGTH);
	const words = wordsOf(name);
	if (words.length === 0) return null;
	const { data } = await api.listRouters({ lat, lon, radius: RADIUS_METRES, limit: 1, name });
	// A remote API may ignore `name`.
	const isMeant = (found: RouterBody) =>
		wordsOf(`${found.name} ${found.address ?? ''} ${found.ssid}`).some((word) =>
			words.some((start) => word.startsWith(start))
		);
	return data.find(isMeant) ?? null;
}
