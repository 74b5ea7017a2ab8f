import { apiClient } from '#lib/server/portal/api-client.ts';
import { answerLogo } from '#lib/server/web/logo.ts';
import type { RequestHandler } from './$types';

/**
 * GET /logos/{hash}.svg|png: an owner's logo. The name is the content's, so that it may be kept for good. A portal of
 * a remote service hands on that service's logo: a buyer's phone reaches this host alone.
 */
export const GET: RequestHandler = async (event) => {
	const { app } = event.locals;
	const { file } = event.params;
	const logo = app.config.remoteApi ? await apiClient(event).readLogo(file) : await app.branding.logo(file);
	return answerLogo(event.request, file, logo);
};
