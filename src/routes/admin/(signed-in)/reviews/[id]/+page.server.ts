import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import { decideReview, reviewPage } from '#lib/server/web/admin/reviews.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	await requireAdmin(event);
	return { ...(await reviewPage(event)), isDecided: event.url.searchParams.has('decided') };
};

export const actions: Actions = { default: async (event) => decideReview(event, await requireAdmin(event)) };
