import { apiDefaults } from '#lib/server/api/example-router.ts';
import { ROUTES } from '#lib/server/api/api.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = async ({ locals: { app } }) => ({
	defaults: await apiDefaults(app),
	/** For readers without script. */
	endpoints: ROUTES.map(({ method, path, summary }) => ({
		call: `${method.toUpperCase()} /v1${path}`,
		summary
	}))
});
