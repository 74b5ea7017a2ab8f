import { isEnglishOnly } from '#lib/language/path.ts';
import type { LayoutServerLoad } from './$types';

export const load: LayoutServerLoad = ({ locals, url }) => ({
	testMode: locals.app.config.mode === 'sandbox',
	switchesLanguage: !isEnglishOnly(url.pathname)
});
