// The files with the sentences of one language each. Only a browser loads them: the build fills this list in there
// (src/language/plugin.ts); the server has all languages at hand.

/** @type {Partial<Record<import('./locales.ts').Locale, () => Promise<import('./browser.ts').Sentences>>>} */
export const loaders = {};
