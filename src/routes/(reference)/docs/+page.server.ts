import { ANY_ORIGIN } from '#lib/server/api/guides.ts';
import type { PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals }) => ({
	baseUrl: `${ANY_ORIGIN}/v1`,
	mode: locals.app.config.mode
});
