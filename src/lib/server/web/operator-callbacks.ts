import type { RequestEvent } from '@sveltejs/kit';
import { AppError } from '#lib/server/platform/errors.ts';
import { readBody } from '#lib/server/http/read-body.ts';

const MAX_CALLBACK_BYTES = 64 * 1024;

/**
 * Stores the callback, which only triggers the status check. The check decides.
 * At an address that Airtill issued, any body of at most 64 KiB gets 200: operators stop calling after an error.
 */
export async function answerCallback(
	event: RequestEvent,
	address: { operator: string; reference: string | null; token: string }
): Promise<Response> {
	const { locals, request, url } = event;
	let bytes: Uint8Array;
	try {
		bytes = await readBody(request, MAX_CALLBACK_BYTES);
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		return Response.json({ received: false }, { status: 413 });
	}
	const answer = await locals.app.payments.receiveCallback({
		...address,
		address: locals.clientAddress(),
		method: request.method,
		path: url.pathname + url.search,
		authority: request.headers.get('host') ?? url.host,
		headers: Object.fromEntries(request.headers),
		body: Buffer.from(bytes).toString('utf8')
	});
	return answer ? Response.json(answer) : Response.json({ received: false }, { status: 404 });
}
