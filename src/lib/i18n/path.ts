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

/** What phones and texts add to the end of an address. */
const TRAILING = /(?:[\s.,;:!?'")\]\u200b-\u200f\u2060\ufeff]|%(?:20|09|0a|0d|22|29|c2%a0|e2%80%8[b-f]))+$/i;
/** Pages that people type: their addresses have no capitals. */
const TYPED =
	/^(?:\/[a-z]{2})?\/(?:r|kiosk|redeem|resume|help|terms|privacy|owner|developer|admin|docs)(?:\/[a-z0-9-]{1,16})*$/i;
/** Pages whose addresses people paste; capitals count in a token. */
const PASTED = /^(?:\/[a-z]{2})?\/(?:s|pass)\/[\w-]+$/;

/** A longer path is no page of these, and `TRAILING` tries each of its characters as the first. */
const MAX_MEANT = 500;

/** Returns the path that a person meant who typed capitals or pasted more than the address; null if it is the same. */
export function meantPath(path: string): string | null {
	if (path.length > MAX_MEANT) return null;
	const bare = path.replace(TRAILING, '');
	const meant = TYPED.test(bare) ? bare.toLowerCase() : bare;
	return meant !== path && (TYPED.test(meant) || PASTED.test(meant)) ? meant : null;
}
