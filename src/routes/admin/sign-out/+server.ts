import { redirect } from '@sveltejs/kit';
import { ADMIN_SIGN_IN_PATH } from '#lib/server/web/admin/admin.ts';
import { signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = async (event) => {
	await signOut(event);
	redirect(303, ADMIN_SIGN_IN_PATH);
};
