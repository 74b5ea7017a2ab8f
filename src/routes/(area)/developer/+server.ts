import { redirect } from '@sveltejs/kit';
import { FIRST_PATH, SIGN_IN_PATH, visitor } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = async (event) => {
	redirect(303, (await visitor(event)) ? FIRST_PATH : SIGN_IN_PATH);
};
