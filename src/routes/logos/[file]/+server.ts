import { apiClient } from '#lib/server/portal/api-client.ts';
import { answerLogo } from '#lib/server/web/logo.ts';
import type { RequestHandler } from './$types';

/** GET /logos/{hash}.png. A portal of a remote service passes on that service's logo: buyers reach only this host. */
export const GET: RequestHandler = async (event) => {
	const { app } = event.locals;
	const { file } = event.params;
	const logo = app.config.remoteApi ? await apiClient(event).readLogo(file) : await app.branding.logo(file);
	return answerLogo(event.request, file, logo);
};
