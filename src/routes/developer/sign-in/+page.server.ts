import { redirect } from '@sveltejs/kit';
import { answerSignIn, nextPath, visitor } from '#lib/server/web/sign-in/sign-in.ts';
import type { Actions, PageServerLoad } from './$types';

export const load: PageServerLoad = async (event) => {
	const next = nextPath('developer', event.url.searchParams.get('next'));
	if (await visitor(event)) redirect(303, next);
	return { next };
};

export const actions: Actions = { default: (event) => answerSignIn(event, 'developer') };
