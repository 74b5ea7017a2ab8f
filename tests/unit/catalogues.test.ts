/** The catalogues of sentences: complete in every language, and no sentence that nobody reads. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LOCALES, type Locale } from '../../src/lib/i18n/locales.ts';

const src = fileURLToPath(new URL('../../src', import.meta.url));
const messages = path.join(src, 'lib/i18n/messages');

/** What every catalogue but the English one says of itself until a native reader has read it. */
const UNREVIEWED = '../../unreviewed.schema.json';
const NATIVE_REVIEWED: readonly Locale[] = [];

/** Signs of units and names that are the same in other languages, too; and words that happen to be. */
const MAY_EQUAL_ENGLISH: readonly RegExp[] = [
	/^common_(day_and_time|left_\w+|mobile_money|error_page_title|slogan)$/,
	/^list_(network|page_title)$/,
	/^router_(minutes|total|number_hint|test_other)$/,
	/^(kiosk_total|owner_total|receipt_code|owner_brand_logo|owner_nav_routers|map_place)$/
];

type Catalogue = Record<string, string>;

const areas = readdirSync(messages).sort();

function catalogue(area: string, locale: Locale): Catalogue {
	const file = path.join(messages, area, `${locale}.json`);
	return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Catalogue) : {};
}

const sentences = (area: string, locale: Locale): Catalogue =>
	Object.fromEntries(Object.entries(catalogue(area, locale)).filter(([key]) => key !== '$schema'));

const parameters = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

const others = LOCALES.filter((locale) => locale !== 'en');

it('every area of sentences is read by the compiler, and the other way round', () => {
	const settings = readFileSync(path.join(src, '../project.inlang/settings.json'), 'utf8');
	const read = [...settings.matchAll(/messages\/(\w+)\/\{locale\}/g)].map(([, area]) => area).sort();
	expect(areas).toEqual(read.filter((area) => areas.includes(area ?? '')));
	expect(areas.length).toBeGreaterThan(2);
});

describe.each(areas)('the sentences of %s', (area) => {
	const english = sentences(area, 'en');

	it('are named after it, written once, and not empty', () => {
		expect(Object.keys(english).length).toBeGreaterThan(0);
		for (const [key, sentence] of Object.entries(english)) {
			expect(key).toMatch(new RegExp(`^${area}_[a-z0-9_]+$`));
			expect(sentence.trim()).toBe(sentence);
			expect(sentence).not.toBe('');
		}
	});
});

describe.each(areas)('the translated sentences of %s', (area) => {
	const english = sentences(area, 'en');

	it.each(others)('are all there in %s, with the same parameters, and no more', (locale) => {
		const translated = sentences(area, locale);
		expect(Object.keys(translated)).toEqual(Object.keys(english));
		for (const [key, sentence] of Object.entries(translated)) {
			expect(sentence.trim(), key).toBe(sentence);
			expect(sentence, key).not.toBe('');
			expect(parameters(sentence), key).toEqual(parameters(english[key] ?? ''));
		}
	});

	it.each(others)('are not left in English in %s', (locale) => {
		const same = Object.entries(sentences(area, locale))
			.filter(([key, sentence]) => sentence === english[key])
			.filter(([key]) => !MAY_EQUAL_ENGLISH.some((pattern) => pattern.test(key)))
			.map(([key]) => key);
		expect(same).toEqual([]);
	});

	it.each(others)('say that no native reader has reviewed them in %s, where that is so', (locale) => {
		const mark = catalogue(area, locale)['$schema'];
		expect(mark).toBe(NATIVE_REVIEWED.includes(locale) ? undefined : UNREVIEWED);
	});
});

it('a line of French never begins with a mark that belongs to the word before it', () => {
	const loose = areas.flatMap((area) =>
		Object.entries(sentences(area, 'fr')).filter(([, sentence]) => /« |\u202f| [:;!?»]/.test(sentence))
	);
	expect(loose).toEqual([]);
});

describe('in the code', () => {
	const texts = readdirSync(src, { recursive: true, encoding: 'utf8' })
		.filter((file) => /\.(ts|svelte)$/.test(file) && !file.includes('i18n/generated'))
		.map((file) => readFileSync(path.join(src, file), 'utf8'));
	const used = new Set(
		texts.flatMap((text) => [...text.matchAll(/\b\w+\s*\.([a-z]+_\w+)\b/g)].map(([, key]) => key))
	);
	const known = areas.flatMap((area) => Object.keys(sentences(area, 'en')));

	it('every sentence is used', () => {
		expect(known.filter((key) => !used.has(key))).toEqual([]);
	});

	it('no sentence is asked for that does not exist', () => {
		const asked = [...used].filter((key) => areas.some((area) => key?.startsWith(`${area}_`)));
		const names = new Set(known);
		// A column of a table may be called like an area, too.
		const inCode = texts.flatMap((text) => [...text.matchAll(/\bm\.([a-z]\w+)/g)].map(([, key]) => key));
		expect(asked.filter((key) => inCode.includes(key) && !names.has(key ?? ''))).toEqual([]);
	});
});

it('“Wi‑Fi” is never broken at its hyphen on a narrow screen', () => {
	const breakable = areas.flatMap((area) =>
		LOCALES.flatMap((locale) =>
			Object.entries(sentences(area, locale))
				.filter(([, sentence]) => /wi[-\u00ad\u2010]fi/i.test(sentence))
				.map(([key]) => `${locale} ${key}`)
		)
	);
	expect(breakable).toEqual([]);
});
