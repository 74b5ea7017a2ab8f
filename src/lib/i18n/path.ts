import { isLocale, type Locale } from './locales.ts';

/** A language that was chosen stands first in the address: `/sw/r/12`. Without one, the browser's languages decide. */

/** What nobody reads in eight languages, and what programs call, has no such address. */
const WITHOUT_LANGUAGE =
	/^\/+(v1|docs|problems|developer|callbacks|openapi\.json|healthz|readyz|metrics|captive-portal)(\/|$)/;

export interface SplitPath {
	/** null when the address names no language */
	locale: Locale | null;
	/** "/sw" or "" */
	prefix: string;
	/** The path without it, beginning with a slash. */
	path: string;
}

export function splitLanguage(pathname: string): SplitPath {
	const match = /^\/([a-z]{2})(\/.*)?$/.exec(pathname);
	const locale = match?.[1];
	const path = match?.[2] ?? '/';
	if (locale === undefined || !isLocale(locale) || WITHOUT_LANGUAGE.test(path)) {
		return { locale: null, prefix: '', path: pathname };
	}
	return { locale, prefix: `/${locale}`, path };
}

/** Pages that are written in English alone: what developers read. */
export const isEnglishOnly = (pathname: string): boolean => WITHOUT_LANGUAGE.test(pathname);

/** The same page in another language. */
export const inLanguage = (locale: Locale, pathname: string): string => {
	const { path } = splitLanguage(pathname);
	return `/${locale}${path === '/' ? '' : path}`;
};
