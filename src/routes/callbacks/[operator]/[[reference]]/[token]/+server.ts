import { receiveCallback } from '#lib/server/billing/callbacks.ts';
import { readBody } from '#lib/server/http/requests.ts';
import { textOf } from '#lib/server/platform/http-client.ts';
import type { RequestHandler } from './$types';
import { Refused } from '#lib/server/platform/errors.ts';

const MAX_CALLBACK_BYTES = 64 * 1024;

/**
 * POST or PUT /callbacks/{operator}/{reference}/{token}: about one payment or refund. Without a reference: for an operator's
 * portal; the body names the payment. Stores the callback, which only triggers the status check. The check decides.
 * At an address that Airtill issued, any body of at most 64 KiB gets 200: operators stop calling after an error.
 */
export const POST: RequestHandler = async ({ locals, params, request, url }) => {
	const { operator, reference = null, token } = params;
	let bytes: Uint8Array;
	try {
		bytes = await readBody(request, MAX_CALLBACK_BYTES);
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		return Response.json({ received: false }, { status: 413 });
	}
	const answer = await receiveCallback(locals.app, {
		...{ operator, reference, token },
		address: locals.clientAddress(),
		method: request.method,
		path: url.pathname + url.search,
		authority: request.headers.get('host') ?? url.host,
		headers: Object.fromEntries(request.headers),
		bytes,
		body: textOf(bytes)
	});
	return answer ? Response.json(answer) : Response.json({ received: false }, { status: 404 });
};

export const PUT = POST;
