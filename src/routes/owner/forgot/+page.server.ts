import { mailLink } from '#lib/server/web/sign-in/password-links.ts';
import type { Actions, PageServerLoad } from './$types';

/** The reason is for the administrator, in English. */
export const load: PageServerLoad = ({ locals }) => ({
	mailProblem: locals.app.signIn.mailProblem === null ? null : ''
});

export const actions: Actions = { default: (event) => mailLink(event, { isNew: false }) };
