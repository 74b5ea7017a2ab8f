import { kioskOptions } from '#lib/kiosk/options.ts';
import { kioskBrand, readAvailability } from '../availability.ts';
import type { PageServerLoad } from './$types';

/** GET /kiosk/{router}: contains no purchase token, because the next buyer sees the same page. */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: await kioskBrand(event),
	options: kioskOptions(event.url.searchParams)
});
