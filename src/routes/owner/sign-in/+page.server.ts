import { fail, redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import * as m from '#lib/i18n/messages.js';
import { readFields } from '#lib/server/web/form.ts';
import { nextOwnerPath } from '#lib/server/web/owner.ts';
import { signInByPassword, visitor, waitToTry } from '#lib/server/web/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

/** /owner/sign-in: with a password. */
export const load: PageServerLoad = async (event) => {
	const next = nextOwnerPath(event.url.searchParams.get('next'));
	if (await visitor(event)) redirect(303, link(next));
	return { next };
};

export const actions: Actions = {
	default: async (event) => {
		const { field } = await readFields(event.request);
		const [email, password] = [field('email').trim(), field('password')];
		if (email === '' || password === '') return fail(400, { email, problem: m.owner_sign_in_missing() });
		const wait = await waitToTry(event, email);
		if (wait !== null) {
			event.setHeaders({ 'retry-after': String(wait) });
			return fail(429, { email, problem: m.owner_sign_in_wait({ seconds: String(wait) }) });
		}
		if (!(await signInByPassword(event, { email, password }))) {
			return fail(400, { email, problem: m.owner_sign_in_wrong() });
		}
		redirect(303, link(nextOwnerPath(field('next'))));
	}
};
