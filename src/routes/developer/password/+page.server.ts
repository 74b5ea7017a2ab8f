import { fail, redirect } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';
import { FIRST_PATH, newPasswordProblem, setPasswordByLink } from '#lib/server/web/sign-in.ts';
import { tooOften } from '#lib/server/web/sign-in-limits.ts';
import type { Actions, PageServerLoad } from './$types';

/** Target of an e-mailed link. Mail scanners open links, so GET does not use the token up. */
export const load: PageServerLoad = async ({ locals, url }) => {
	const token = url.searchParams.get('token') ?? '';
	return { token, email: await locals.app.signIn.linkOwner(token, locals.origin) };
};

export const actions: Actions = {
	default: async (event) => {
		const { field } = await readFields(event.request);
		const token = event.url.searchParams.get('token') ?? '';
		const email = await event.locals.app.signIn.linkOwner(token, event.locals.origin);
		if (email === null) return fail(400, { problem: '' });
		const password = field('password');
		const problem = await newPasswordProblem(password, email);
		if (problem !== null) return fail(400, { problem });
		const refused = await tooOften(event, 'sign-in', {});
		if (refused) return refused;
		if (!(await setPasswordByLink(event, { token, email, password }))) return fail(400, { problem: '' });
		redirect(303, FIRST_PATH);
	}
};
