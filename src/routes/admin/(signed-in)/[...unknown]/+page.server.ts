import { error } from '@sveltejs/kit';
import { adminPage } from '#lib/server/web/admin.ts';

/** Keeps a wrong address in the administrator's area. */
export const load = adminPage(() => error(404, 'Not found'));
