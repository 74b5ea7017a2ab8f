import { listPage } from '#lib/server/web/portal/list/list-page.ts';
import type { PageServerLoad } from './$types';

/** The list of routers, nearest first. */
export const load: PageServerLoad = listPage;
