import { redirect } from '@sveltejs/kit';
import { SIGN_IN_PATH, signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = async (event) => {
	await signOut(event);
	redirect(303, SIGN_IN_PATH + event.url.search);
};
