import type { RequestEvent } from '@sveltejs/kit';
import { MAX_BODY_BYTES, readBody } from './read-body.ts';
import { Refused } from '#lib/server/platform/errors.ts';

export const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(;|$)/i;

/** Forms with a file. Their actions read the body after they know who sends it (`readFields`). */
const isFileForm = (path: string, type: string) =>
	/^multipart\/form-data\s*;/i.test(type) &&
	(/^(\/[a-z]{2})?\/owner\/(routers\/\d+\/)?brand$/.test(path) || path === '/admin/routers/import');

/**
 * Reads a posted form of at most 16 KiB, because parsing a large one stalls the process. Forms with
 * a file may be larger. Returns false if the form is too large.
 */
export async function limitForm(event: RequestEvent): Promise<boolean> {
	const { request, url } = event;
	const type = request.headers.get('content-type') ?? '';
	if (request.method !== 'POST' || !FORM_TYPES.test(type) || isFileForm(url.pathname, type)) return true;
	try {
		event.request = new Request(request, { body: Buffer.from(await readBody(request, MAX_BODY_BYTES)) });
		return true;
	} catch (error) {
		if (error instanceof Refused && error.reason === 'body_too_large') return false;
		// The page reports an incomplete form.
		return true;
	}
}
