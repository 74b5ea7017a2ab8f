import type { RequestEvent } from '@sveltejs/kit';
import type { ApiRequest } from './api-call.ts';
import { answerUnknown } from './endpoint.ts';
import { readBody } from './parse.ts';
import { answerApi } from '../routes/api.ts';

/** A call of the API that comes through SvelteKit: from a page (`event.fetch`), or while developing. */
export async function answerApiEvent(event: RequestEvent): Promise<Response> {
	const { locals, request, url } = event;
	const call: ApiRequest = {
		app: locals.app,
		requestId: locals.requestId,
		method: request.method,
		pathname: url.pathname,
		search: url.searchParams,
		host: request.headers.get('host') ?? url.host,
		origin: locals.origin,
		signal: request.signal,
		header: (name) => request.headers.get(name),
		getClientAddress: () => event.getClientAddress(),
		readBody: (maxBytes) => readBody(request, maxBytes)
	};
	// SvelteKit has cut its `__data.json` from the address: what was asked for is not there.
	const { status, headers, body } = await (event.isDataRequest ? answerUnknown(call) : answerApi(call));
	return new Response(body, {
		status,
		headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) }
	});
}
