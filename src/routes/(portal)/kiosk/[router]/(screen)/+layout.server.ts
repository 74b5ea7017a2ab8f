import type { LayoutServerLoad } from './$types';

/** The kiosk fills its screen: nothing of the site around it leads out of the flow. */
export const load: LayoutServerLoad = () => ({ bare: true });
