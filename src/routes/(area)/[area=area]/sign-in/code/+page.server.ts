import { answerCode, loadCodePage } from '#lib/server/web/sign-in/second-factor.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => loadCodePage(event, event.params.area);

export const actions: Actions = { default: (event) => answerCode(event, event.params.area) };
