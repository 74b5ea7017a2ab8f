import { answerSignIn, loadSignInPage } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => loadSignInPage(event, event.params.area);

export const actions: Actions = { default: (event) => answerSignIn(event, event.params.area) };
