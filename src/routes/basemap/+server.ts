import type { RequestHandler } from './$types';

/** Returns the source of the base map: `{ kind: 'pmtiles' | 'none', … }` (BasemapFacts). */
export const GET: RequestHandler = async ({ locals }) =>
	Response.json(await locals.app.basemap.describe(), { headers: { 'cache-control': 'no-cache' } });
