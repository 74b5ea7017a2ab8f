import { requireOwner } from '#lib/server/web/owner/owner.ts';
import { areaData } from '#lib/server/web/sign-in/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: each of them calls requireOwner itself. */
export const load: LayoutServerLoad = async (event) => areaData(event, await requireOwner(event));
