import { redirect } from '@sveltejs/kit';
import { link } from '#lib/i18n/current.ts';
import { OWNER_SIGN_IN_PATH } from '#lib/server/web/owner/owner.ts';
import { signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = async (event) => {
	await signOut(event);
	redirect(303, link(OWNER_SIGN_IN_PATH));
};
