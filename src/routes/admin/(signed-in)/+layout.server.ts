import { requireAdmin } from '#lib/server/web/admin/admin.ts';
import { areaData } from '#lib/server/web/sign-in/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: each of them calls requireAdmin itself. */
export const load: LayoutServerLoad = async (event) => areaData(event, await requireAdmin(event));
