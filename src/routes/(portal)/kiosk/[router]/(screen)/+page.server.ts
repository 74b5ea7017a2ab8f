import { kioskOptions } from '#lib/kiosk/options.ts';
import { kioskBrand, readTill } from '../till.ts';
import type { PageServerLoad } from './$types';

/**
 * The kiosk's first screen. It holds no purchase token: what stands in the page is there for the next person too.
 * An address of no router, and a service that cannot be asked, are screens of their own, that end by themselves.
 */
export const load: PageServerLoad = async (event) => ({
	till: await readTill(event),
	brand: await kioskBrand(event),
	options: kioskOptions(event.url.searchParams)
});
