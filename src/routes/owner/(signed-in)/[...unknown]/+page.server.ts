import { error } from '@sveltejs/kit';
import { ownerPage } from '#lib/server/web/owner/owner.ts';

/** Keeps a wrong address in the owner area. */
export const load = ownerPage(() => error(404, 'Not found'));
