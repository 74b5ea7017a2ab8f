import { kioskOptions } from '#lib/kiosk/options.ts';
import { showBrand } from '#lib/server/web/brand.ts';
import { ifAvailable, readRouter } from '#lib/server/web/portal/pages.ts';
import { readAvailability } from '#lib/server/web/portal/kiosk.ts';
import type { PageServerLoad } from './$types';

/** GET /kiosk/{router}: contains no purchase token, because the next buyer sees the same page. */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: showBrand(event, await ifAvailable(readRouter(event), null)),
	options: kioskOptions(event.url.searchParams)
});
