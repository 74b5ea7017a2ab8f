import { fileResponse } from '#lib/server/web/file.ts';
import type { RequestHandler } from './$types';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * The installation's PMTiles file: whole, by single ranges, or by HEAD. Browsers may cache `?v=VERSION` (from
 * `/basemap`). 404 if it has none.
 */
export const GET: RequestHandler = async ({ request, url, locals }) => {
	const file = await locals.app.basemap.openArchive();
	if (!file) return new Response('There is no such file.\n', { status: 404 });
	const isNamed = url.searchParams.get('v') === file.version;
	return fileResponse(request, file, {
		'content-type': 'application/vnd.pmtiles',
		'cache-control': isNamed ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache'
	});
};

export const HEAD: RequestHandler = GET;
