import { isLocale, type Locale } from './locales.ts';
import { splitLanguage } from './path.ts';

interface LocaleSource {
	locale(): Locale;
	pathname(): string;
}

const fromDocument: LocaleSource = {
	locale() {
		const { lang } = document.documentElement;
		return isLocale(lang) ? lang : 'en';
	},
	pathname: () => location.pathname
};

const english: LocaleSource = { locale: () => 'en', pathname: () => '/' };

let source = typeof document === 'undefined' ? english : fromDocument;

/** Sets the source of `currentLocale` and `link`. The server calls it once at start. */
export function setLocaleSource(newSource: LocaleSource): void {
	source = newSource;
}

export const currentLocale = (): Locale => source.locale();

/** Returns a path of this site with the language prefix of the current address. */
export const link = (path: string): string => {
	const { prefix } = splitLanguage(source.pathname());
	return prefix !== '' && path === '/' ? prefix : prefix + path;
};
