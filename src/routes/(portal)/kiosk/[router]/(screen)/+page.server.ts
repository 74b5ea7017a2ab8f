import { kioskOptions } from '#lib/kiosk/options.ts';
import { kioskBrand, readAvailability } from '../availability.ts';
import type { PageServerLoad } from './$types';

/**
 * GET /kiosk/{router}: the kiosk's first screen. It holds no purchase token, because the next buyer sees the same page.
 * An unknown router and a service that is not available have screens of their own, which try again by themselves.
 */
export const load: PageServerLoad = async (event) => ({
	availability: await readAvailability(event),
	brand: await kioskBrand(event),
	options: kioskOptions(event.url.searchParams)
});
