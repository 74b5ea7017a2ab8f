import { error } from '@sveltejs/kit';
import { findMailProblem } from '#lib/server/authentication/sign-in.ts';
import { mailLink } from '#lib/server/web/sign-in/password-links.ts';
import type { Actions, PageServerLoad } from './$types';

/** Owners get their accounts from an administrator. */
const isSignUp = ({ area, link }: { area: string; link: string }): boolean =>
	link === 'sign-up' && (area === 'developer' || error(404, 'Not found'));

export const load: PageServerLoad = ({ locals, params }) => {
	const problem = findMailProblem(locals.app.signIn);
	// The reason is for the administrator, in English.
	return { isSignUp: isSignUp(params), mailProblem: problem && (params.area === 'owner' ? '' : problem) };
};

export const actions: Actions = { default: (event) => mailLink(event, { isNew: isSignUp(event.params) }) };
