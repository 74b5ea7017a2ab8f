import type { RequestHandler } from './$types';

/** Browsers ask for it without a page, such as for a file that they show by themselves. */
export const GET: RequestHandler = () =>
	new Response(null, {
		status: 308,
		headers: { location: '/icon.png', 'cache-control': 'max-age=86400' }
	});
