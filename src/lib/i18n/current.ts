import type { Locale } from './locales.ts';

/** The language that is spoken right now: of the running request on the server, of the page in a browser. */
export interface Spoken {
	locale: Locale;
	/** "/sw" where the address names the language, else "". */
	prefix: string;
}

const ENGLISH: Spoken = { locale: 'en', prefix: '' };

let read: () => Spoken | undefined = () => undefined;

/** Says where the language comes from; done once, when the program begins. */
export function speakBy(source: () => Spoken | undefined): void {
	read = source;
}

/** Outside of requests (jobs, the command line) it is English. */
export const currentLocale = (): Locale => (read() ?? ENGLISH).locale;

/** A path of this site for a link or a redirect: it keeps the language that the address names. */
export const link = (path: string): string => {
	const { prefix } = read() ?? ENGLISH;
	return prefix !== '' && path === '/' ? prefix : prefix + path;
};
