import { requireAdmin } from '#lib/server/web/admin.ts';
import { areaData } from '#lib/server/web/sign-in/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: adminPage and adminForm make each of them. */
export const load: LayoutServerLoad = async (event) => areaData(event, await requireAdmin(event));
