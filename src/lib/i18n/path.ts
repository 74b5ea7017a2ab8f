import { isLocale, type Locale } from './locales.ts';

/** Pages for developers and addresses that programs call. */
const ENGLISH_ONLY =
	/^(\/[a-z]{2})?\/+(v1|docs|problems|developer|callbacks|openapi\.json|healthz|readyz|metrics|captive-portal)(\/|$)/;

export interface SplitPath {
	/** null when the address names no language */
	locale: Locale | null;
	/** "/sw" or "" */
	prefix: string;
	/** The rest, beginning with a slash. */
	path: string;
}

/** Splits `/sw/r/12` into its language prefix and the path of the page. */
export function splitLanguage(pathname: string): SplitPath {
	const [, locale = '', path = '/'] = /^\/([a-z]{2})(\/.*)?$/.exec(pathname) ?? [];
	return isLocale(locale)
		? { locale, prefix: `/${locale}`, path }
		: { locale: null, prefix: '', path: pathname };
}

/** Returns whether the address is answered in English only. */
export const isEnglishOnly = (pathname: string): boolean => ENGLISH_ONLY.test(pathname);

/** Returns the address of the same page in another language. */
export const inLanguage = (locale: Locale, pathname: string): string => {
	const { path } = splitLanguage(pathname);
	return `/${locale}${path === '/' ? '' : path}`;
};
