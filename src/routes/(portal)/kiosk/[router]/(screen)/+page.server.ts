import { kioskOptions } from '#lib/kiosk/options.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { ifAvailable, routerOf } from '#lib/server/web/portal/api-errors.ts';
import { readAvailability } from '#lib/server/web/portal/kiosk/availability.ts';
import type { PageServerLoad } from './$types';

/** GET /kiosk/{router}: contains no purchase token, because the next buyer sees the same page. */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: showBrand(event, await ifAvailable(routerOf(event), null)),
	options: kioskOptions(event.url.searchParams)
});
