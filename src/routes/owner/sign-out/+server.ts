import { redirect } from '@sveltejs/kit';
import { link } from '#lib/language/current.ts';
import { OWNER_SIGN_IN_PATH } from '#lib/server/http/owner.ts';
import { signOut } from '#lib/server/http/sign-in.ts';
import type { RequestHandler } from './$types';

/** POST /owner/sign-out */
export const POST: RequestHandler = async (event) => {
	await signOut(event);
	redirect(303, link(OWNER_SIGN_IN_PATH));
};
