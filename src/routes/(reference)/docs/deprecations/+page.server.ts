import { deprecationsOf } from '#lib/server/docs/deprecations.ts';
import type { PageServerLoad } from './$types';

/** GET /docs/deprecations: where the `Link` of a deprecated endpoint leads. */
export const load: PageServerLoad = () => ({ deprecations: deprecationsOf() });
