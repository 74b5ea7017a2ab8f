import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals }) => ({ testMode: locals.app.config.mode === 'sandbox' });
