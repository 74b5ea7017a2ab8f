import { isLocale, type Locale } from './locales.ts';
import { splitLanguage } from './path.ts';

interface LocaleSource {
	locale(): Locale;
	/** Path of the page's address, with its language prefix. */
	pathname(): string;
}

const fromDocument: LocaleSource = {
	locale() {
		const { lang } = document.documentElement;
		return isLocale(lang) ? lang : 'en';
	},
	pathname: () => location.pathname
};

/** For the command line and tests. */
const english: LocaleSource = { locale: () => 'en', pathname: () => '/' };

let source = typeof document === 'undefined' ? english : fromDocument;

/** Sets where `currentLocale` and `link` read from. The server calls it once at start. */
export function setLocaleSource(newSource: LocaleSource): void {
	source = newSource;
}

/** Returns the locale of the running request or of the page; outside of both English. */
export const currentLocale = (): Locale => source.locale();

/** Returns a path of this site for a link or a redirect; keeps the language prefix of the current address. */
export const link = (path: string): string => {
	const { prefix } = splitLanguage(source.pathname());
	return prefix !== '' && path === '/' ? prefix : prefix + path;
};
