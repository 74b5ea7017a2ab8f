import { link } from '#lib/i18n/current.ts';
import { OWNER_SIGN_IN_PATH } from '#lib/server/web/owner/owner.ts';
import { signOut } from '#lib/server/web/sign-in/sign-in.ts';
import type { RequestHandler } from './$types';

export const POST: RequestHandler = (event) => signOut(event, link(OWNER_SIGN_IN_PATH));
