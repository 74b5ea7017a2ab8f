import { error } from '@sveltejs/kit';
import * as m from '#lib/i18n/messages.js';
import { configParts } from '#lib/server/web/owner/gateway/gateway-page.ts';
import { readFields } from '#lib/server/web/form.ts';
import type { RequestHandler } from './$types';

/** Downloads a file of the configuration. POST, because it holds secrets. */
export const POST: RequestHandler = async (event) => {
	const { field } = await readFields(event.request);
	const part = (await configParts(event)).find(({ file }) => file !== null && file === field('file'));
	if (!part?.file) error(400, m.owner_problem());
	const name = part.file.split('/').at(-1) ?? '';
	return new Response(part.text, {
		headers: {
			'content-type': 'text/plain; charset=utf-8',
			'content-disposition': `attachment; filename="${name}"`,
			'cache-control': 'no-store'
		}
	});
};
