import type { LayoutServerLoad } from './$types';

/** The kiosk fills its screen: no header or link leads out of the purchase. */
export const load: LayoutServerLoad = () => ({ bare: true });
