// The files with the sentences of one language and one part of the portal each, by names such as `sw/r`. Only a browser loads them: the build fills this list in there
// (src/language/plugin.ts); the server has all languages at hand.

/** @type {Partial<Record<string, () => Promise<import('./browser.ts').Sentences>>>} */
export const loaders = {};
