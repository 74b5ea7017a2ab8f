import { kioskOptions } from '#lib/kiosk/options.ts';
import { routerOf } from '#lib/server/web/portal/api-errors.ts';
import { brandOf } from '#lib/server/web/portal/router-brand.ts';
import { readAvailability } from '#lib/server/web/portal/kiosk/availability.ts';
import type { PageServerLoad } from './$types';

/** GET /kiosk/{router}: contains no purchase token, because the next buyer sees the same page. */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: await brandOf(event, routerOf(event)),
	options: kioskOptions(event.url.searchParams)
});
