import { isLocale, type Locale } from './locales.ts';

/** Pages of developers and administrators, and addresses that programs call. */
const ENGLISH_ONLY =
	/^(\/[a-z]{2})?\/+(v1|docs|problems|developer|admin|callbacks|openapi\.json|healthz|readyz|metrics|captive-portal)(\/|$)/;

interface SplitPath {
	/** null without a language prefix */
	locale: Locale | null;
	/** "/sw" or "" */
	prefix: string;
	path: string;
}

/** Splits `/sw/r/12` into its language prefix and the path of the page. */
export function splitLanguage(pathname: string): SplitPath {
	const [, locale = '', path = '/'] = /^\/([a-z]{2})(\/.*)?$/.exec(pathname) ?? [];
	return isLocale(locale)
		? { locale, prefix: `/${locale}`, path }
		: { locale: null, prefix: '', path: pathname };
}

export const isEnglishOnly = (pathname: string): boolean => ENGLISH_ONLY.test(pathname);

export const inLanguage = (locale: Locale, pathname: string): string => {
	const { path } = splitLanguage(pathname);
	return `/${locale}${path === '/' ? '' : path}`;
};
