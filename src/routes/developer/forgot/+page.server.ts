import { mailLink } from '#lib/server/web/sign-in/password-links.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = ({ locals }) => ({ mailProblem: locals.app.signIn.mailProblem });

export const actions: Actions = { default: (event) => mailLink(event, { isNew: false }) };
