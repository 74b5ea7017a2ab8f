import { isEnglishOnly } from '#lib/i18n/path.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals, url }) => ({
	testMode: locals.app.config.mode === 'sandbox',
	switchesLanguage: !isEnglishOnly(url.pathname)
});
