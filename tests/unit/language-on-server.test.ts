import { expect, it } from 'vitest';
import { LOCALES } from '../../src/lib/i18n/locales.ts';
import { everySentence, oneLanguage } from '../../src/language/on-server.ts';

const COMPILED = [
	'import { plural } from "../registry.js"',
	'export const a = /** @type {x} */ () => {\n\treturn `ስንት ${1 + 1} 🙂`\n};',
	'export const b = (i) => {\n\treturn `${plural(i.n)} \\` ok`\n};'
].join('\n\n');

/** What the module says when it runs, with `given` for its imports. */
function made(code: string, name: string, given: Record<string, unknown>): unknown {
	const text = code.replace(/^import .*$/gm, '').replace(/^export /gm, '');
	return new Function(...Object.keys(given), `${text}\nreturn ${name};`)(...Object.values(given));
}

it('a language is one function, with the same sentences, and in ASCII', () => {
	const code = oneLanguage(COMPILED);
	expect(code).toMatch(/^import \{ plural \} from "..\/registry.js"$/m);
	expect(code).toMatch(/^[\0-\x7f]*$/);
	const sentences = made(code, 'sentences()', { plural: (n: number) => n * 2 });
	expect(sentences).toMatchObject({ a: expect.any(Function), b: expect.any(Function) });
	const { a, b } = sentences as { a(): string; b(inputs: object): string };
	expect([a(), b({ n: 2 })]).toEqual(['ስንት 2 🙂', '4 ` ok']);
});

it('a sentence is said in the language of the request, and makes that language alone, once', () => {
	const begun: string[] = [];
	const languages = LOCALES.map((locale) => {
		const sentences = () => {
			begun.push(locale);
			return { a: (inputs: object) => [locale, inputs], b: () => 'b' };
		};
		return [locale, sentences] as const;
	});
	let spoken = 'sw';
	const given = { ...Object.fromEntries(languages), getLocale: () => spoken };
	const a = made(everySentence(COMPILED), 'a', given) as (inputs?: object, options?: object) => unknown;
	expect(begun).toEqual([]);
	expect([a({ n: 1 }), a()]).toEqual([
		['sw', { n: 1 }],
		['sw', {}]
	]);
	expect(a({}, { locale: 'fr' })).toEqual(['fr', {}]);
	spoken = 'am';
	expect(a()).toEqual(['am', {}]);
	expect(begun).toEqual(['sw', 'fr', 'am']);
});
