import { mailLink } from '#lib/server/web/sign-in/password-links.ts';
import type { Actions, PageServerLoad } from './$types';
import { findMailProblem } from '#lib/server/authentication/sign-in.ts';

export const load: PageServerLoad = ({ locals }) => ({ mailProblem: findMailProblem(locals.app.signIn) });

export const actions: Actions = { default: (event) => mailLink(event, { isNew: false }) };
