import { deprecationsOf } from '#lib/server/api/reference/deprecations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/deprecations: where the `Link` of a deprecated endpoint leads. */
export const load: PageServerLoad = () => ({ deprecations: deprecationsOf() });
