import { readPasswordLink, usePasswordLink } from '#lib/server/web/sign-in/password-links.ts';
import type { Actions, PageServerLoad } from './$types';

/** Target of an e-mailed link or an invitation. */
export const load: PageServerLoad = readPasswordLink;

export const actions: Actions = { default: usePasswordLink };
