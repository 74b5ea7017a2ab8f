import { fail, redirect } from '@sveltejs/kit';
import { readFields } from '#lib/server/web/form.ts';
import { nextPath, signInByPassword, visitor, waitToTry } from '#lib/server/web/sign-in.ts';
import { tooOften } from '../waiting.ts';
import type { Actions, PageServerLoad } from './$types';

/** /developer/sign-in: with a password or a passkey. */
export const load: PageServerLoad = async (event) => {
	const next = nextPath(event.url.searchParams.get('next'));
	if (await visitor(event)) redirect(303, next);
	return { next };
};

export const actions: Actions = {
	default: async (event) => {
		const { field } = await readFields(event.request);
		const [email, password] = [field('email').trim(), field('password')];
		if (email === '' || password === '') {
			return fail(400, { email, problem: 'Enter your email address and password.' });
		}
		const wait = await waitToTry(event, email);
		if (wait !== null) return tooOften(event, wait, { email });
		if (!(await signInByPassword(event, { email, password }))) {
			return fail(400, { email, problem: 'The email address or the password is wrong.' });
		}
		redirect(303, nextPath(field('next')));
	}
};
