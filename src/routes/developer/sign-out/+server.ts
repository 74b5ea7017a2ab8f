import { SIGN_IN_PATH, signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = (event) => signOut(event, SIGN_IN_PATH + event.url.search);
