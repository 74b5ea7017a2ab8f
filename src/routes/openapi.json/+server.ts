import { documentText } from '#lib/server/api/document/document.ts';
import { compressed } from '#lib/server/web/compress.ts';
import type { RequestHandler } from './$types';

/** GET /openapi.json: the description of the API for programs; needs no key. */
export const GET: RequestHandler = ({ request, locals }) =>
	compressed(
		request,
		new Response(documentText(locals.origin), {
			headers: {
				'content-type': 'application/json; charset=utf-8',
				'cache-control': 'public, max-age=300',
				// Tools of other sites read it; nothing in it is secret.
				'access-control-allow-origin': '*'
			}
		})
	);
