import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals }) => ({
	baseUrl: `${locals.origin}/v1`,
	mode: locals.app.config.mode
});
