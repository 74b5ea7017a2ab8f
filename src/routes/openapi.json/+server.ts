import { documentText } from '#lib/server/api/document/document.ts';
import { compressed } from '#lib/server/web/compress.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = ({ request, locals }) =>
	compressed(
		request,
		new Response(documentText(locals.origin), {
			headers: {
				'content-type': 'application/json; charset=utf-8',
				'cache-control': 'public, max-age=300',
				// Tools on other sites read it; it contains no secrets.
				'access-control-allow-origin': '*'
			}
		})
	);
