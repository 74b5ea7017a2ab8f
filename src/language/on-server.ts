/**
 * The server's catalogues, as small as they can lie in memory: Paraglide writes one function for each sentence and
 * language, and one more that chooses among them. Here a language is one function, which the engine leaves alone until
 * somebody speaks that language; its sentences are as the compiler wrote them.
 */
import type { Plugin } from 'vite';
import { LOCALES } from '../lib/i18n/locales.ts';

const SENTENCE = /^export const (\w+) = /gm;
const CATALOGUE = /\/src\/lib\/i18n\/generated\/messages\/(\w+)\.js$/;

/** One letter outside of Latin-1 has the engine keep a whole file in two bytes for each letter. */
const inAscii = (code: string): string =>
	code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const namesOf = (code: string): string[] => [...code.matchAll(SENTENCE)].map(([, name = '']) => name);

/** `export function sentences()`, which makes all functions of one language. */
export function oneLanguage(code: string): string {
	const imports = [...code.matchAll(/^import .*$/gm)].map(([line]) => line);
	const body = inAscii(code.replace(/^import .*$/gm, '')).replace(SENTENCE, 'const $1 = ');
	return `${imports.join('\n')}\nexport function sentences() {\n${body}\nreturn { ${namesOf(code).join(', ')} };\n}`;
}

/** The functions that pages call: each says its sentence in the language of the running request. */
export function everySentence(code: string): string {
	return [
		`import { getLocale } from '../runtime.js';`,
		...LOCALES.map((locale) => `import { sentences as ${locale} } from './${locale}.js';`),
		`const languages = { ${LOCALES.join(', ')} };`,
		'const spoken = {};',
		'const sentencesOf = (locale) => (spoken[locale] ??= languages[locale]());',
		'const say = (name) => (inputs = {}, options = {}) => sentencesOf(options.locale ?? getLocale())[name](inputs);',
		...namesOf(code).map((name) => `export const ${name} = /* @__PURE__ */ say('${name}');`)
	].join('\n');
}

export const languageOnServer = (): Plugin => ({
	name: 'airtill:language-on-server',
	apply: 'build',
	transform(code, id) {
		const [, name] = CATALOGUE.exec(id) ?? [];
		if (name === undefined || this.environment.name === 'client') return null;
		return { code: name === '_index' ? everySentence(code) : oneLanguage(code), map: null };
	}
});
