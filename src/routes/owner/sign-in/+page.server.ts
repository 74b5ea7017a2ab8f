import { answerSignIn, loadSignInPage } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = (event) => loadSignInPage(event, 'owner');

export const actions: Actions = { default: (event) => answerSignIn(event, 'owner') };
