import { kioskOptions } from '#lib/kiosk/options.ts';
import { routerOf } from '../../../api-errors.ts';
import { brandOf } from '../../../brand.ts';
import { readAvailability } from '../availability.ts';
import type { PageServerLoad } from './$types';

/** GET /kiosk/{router}: contains no purchase token, because the next buyer sees the same page. */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: await brandOf(event, routerOf(event)),
	options: kioskOptions(event.url.searchParams)
});
