import { requireDeveloper } from '#lib/server/web/developer.ts';
import { areaData } from '#lib/server/web/sign-in/sign-in.ts';
import type { LayoutServerLoad } from './$types';

/** Does not protect actions or loads: each of them calls requireDeveloper itself. */
export const load: LayoutServerLoad = async (event) => areaData(event, await requireDeveloper(event));
