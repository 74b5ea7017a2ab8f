import { readFields } from '#lib/server/web/form.ts';
import { configFile, gatewayForm } from '#lib/server/web/owner/gateway.ts';
import type { RequestHandler } from './$types';

/** Downloads a file of the configuration. POST, because it holds secrets. */
export const POST: RequestHandler = async (event) => {
	// Read first: the page for a form that can be sent again after the sign-in is not for downloads.
	const { field } = await readFields(event.request);
	return gatewayForm((asked, own) => configFile(asked, own, field('file')))(event);
};
