import { kioskOptions } from '#lib/kiosk/options.ts';
import { kioskBrand, readAvailability } from '../availability.ts';
import type { PageServerLoad } from './$types';

/**
 * GET /kiosk/{router}: the kiosk's first screen. It contains no purchase token, because the next buyer sees the same page.
 * An unknown router and an unavailable service have their own screens, which retry automatically.
 */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: await kioskBrand(event),
	options: kioskOptions(event.url.searchParams)
});
