import type { RequestHandler } from './$types';
import { AppError } from '#lib/server/errors.ts';
import { readBody } from '#lib/server/http/parse.ts';

const MAX_CALLBACK_BYTES = 64 * 1024;

/**
 * POST or PUT /callbacks/{operator}/{reference}/{token}: an operator says that something happened. Noted,
 * answered at once, and only a reason to ask the operator; an address that we did not make changes nothing.
 */
const receive: RequestHandler = async ({ locals, params, request, url }) => {
	let bytes: Uint8Array;
	try {
		bytes = await readBody(request, MAX_CALLBACK_BYTES);
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return Response.json({ received: false }, { status: 413 });
	}
	const known = await locals.app.payments.receiveCallback({
		...params,
		method: request.method,
		path: url.pathname + url.search,
		authority: request.headers.get('host') ?? url.host,
		headers: Object.fromEntries(request.headers),
		body: Buffer.from(bytes).toString('utf8')
	});
	return Response.json({ received: known }, { status: known ? 200 : 404 });
};

export const POST = receive;
export const PUT = receive;
