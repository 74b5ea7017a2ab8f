import { getRequestEvent } from '$app/server';
import { defineCustomServerStrategy, getLocale } from '#lib/i18n/generated/runtime.js';
import { setLocaleSource } from '#lib/i18n/current.ts';
import { isEnglishOnly, splitLanguage } from '#lib/i18n/path.ts';

/**
 * Reads the language from the prefix of an address (`/sw/r/3`), or else from `Accept-Language`. Call once.
 * Paraglide's own `url` strategy would redirect addresses without a prefix.
 */
export function configureLocale(): void {
	defineCustomServerStrategy('custom-address', {
		getLocale(request) {
			const { pathname } = new URL(request?.url ?? '/', 'http://localhost');
			return isEnglishOnly(pathname) ? 'en' : (splitLanguage(pathname).locale ?? undefined);
		}
	});
	setLocaleSource({ locale: getLocale, pathname: () => getRequestEvent().url.pathname });
}
