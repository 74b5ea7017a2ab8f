import type { PageServerLoad } from './$types';

/** GET /docs: the index of the documentation. */
export const load: PageServerLoad = ({ locals }) => ({
	baseUrl: `${locals.origin}/v1`,
	mode: locals.app.config.mode
});
