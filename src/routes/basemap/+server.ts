import type { RequestHandler } from './$types';

/** What the map is drawn on: `{ kind: 'pmtiles' | 'tiles' | 'none', … }` (BasemapFacts). Asked when the map loads. */
export const GET: RequestHandler = async ({ locals }) =>
	Response.json(await locals.app.basemap.describe(), { headers: { 'cache-control': 'no-cache' } });
