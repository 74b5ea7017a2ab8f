import { isLocale } from './locales.ts';
import { loaders } from './loaders.js';
import { speakBy } from './current.ts';
import { splitLanguage } from './path.ts';

/** The sentences of one language, by name. */
export type Sentences = Record<string, (inputs?: object) => string>;

let loaded: Sentences | null = null;

/** @throws Error before `loadSentences` */
export function sentences(): Sentences {
	if (!loaded) throw new Error('The sentences of this page are not loaded yet');
	return loaded;
}

/** Loads the sentences of the page's language (`<html lang>`), before anything of the page comes alive. */
export async function loadSentences(): Promise<void> {
	const { lang } = document.documentElement;
	const locale = isLocale(lang) ? lang : 'en';
	const { prefix, path } = splitLanguage(location.pathname);
	speakBy(() => ({ locale, prefix }));
	// Of the other parts of the portal a page needs nothing; where that is not known, it gets all.
	const [, section = ''] = path.split('/');
	const load = loaders[`${locale}/${section}`] ?? loaders[`${locale}/all`];
	loaded = (await load?.()) ?? null;
}
