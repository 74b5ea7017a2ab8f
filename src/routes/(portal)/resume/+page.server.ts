import { resumePage, resumePurchase } from '#lib/server/web/portal/resume.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = resumePage;

export const actions: Actions = { default: resumePurchase };
