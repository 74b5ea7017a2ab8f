/** The catalogues are complete in every language and contain no unused sentence. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { LOCALES, type Locale } from '#lib/i18n/locales.ts';
import { listChanged } from '../../support/translations.ts';

const src = fileURLToPath(new URL('../../../src', import.meta.url));
const messages = path.join(src, 'lib/i18n/messages');

/** Schema of catalogues without review by a native reader. */
const UNREVIEWED = '../unreviewed.schema.json';
const NATIVE_REVIEWED: readonly Locale[] = [];

/** Units, names and words that are the same in another language. */
const MAY_EQUAL_ENGLISH: readonly RegExp[] = [
	/^(common_(day_and_time|minutes|mobile_money|error_page_title)|purchase_operator)$/,
	/^list_(network|page_title)$/,
	/^router_(total|number_hint|test_other)$/,
	/^(owner_total|receipt_code|owner_brand_logo|owner_nav_routers|map_router)$/,
	/^owner_(router|router_(position|lat|lon)|gateway_(site|config))$/,
	/^(alerts_sms|help_transaction|resume_transaction_label|receipt_reference)$/,
	/^(owner_online|usage_line_online)$/
];

type Catalogue = Record<string, string>;

const catalogue = (locale: Locale): Catalogue =>
	JSON.parse(readFileSync(path.join(messages, `${locale}.json`), 'utf8')) as Catalogue;

const readSentences = (locale: Locale): Catalogue =>
	Object.fromEntries(Object.entries(catalogue(locale)).filter(([key]) => key !== '$schema'));

const parameters = (sentence: string) => [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();

const english = readSentences('en');
const areas = new Set(Object.keys(english).map((key) => key.split('_')[0]));

it('English sentences have keys that start with an area, which stands in one piece, and are not empty', () => {
	expect(areas.size).toBeGreaterThan(2);
	for (const [key, sentence] of Object.entries(english)) {
		expect(key).toMatch(/^[a-z]+_[a-z0-9_]+$/);
		expect(sentence.trim()).toBe(sentence);
		expect(sentence).not.toBe('');
	}
	const changes = Object.keys(english).filter(
		(key, at, keys) => key.split('_')[0] !== keys[at - 1]?.split('_')[0]
	);
	expect(changes.length).toBe(areas.size);
});

describe.each(LOCALES.filter((locale) => locale !== 'en'))('the sentences in %s', (locale) => {
	const translated = readSentences(locale);

	it('are complete, with the same parameters', () => {
		expect(Object.keys(translated)).toEqual(Object.keys(english));
		for (const [key, sentence] of Object.entries(translated)) {
			expect(sentence.trim(), key).toBe(sentence);
			expect(sentence, key).not.toBe('');
			expect(parameters(sentence), key).toEqual(parameters(english[key] ?? ''));
		}
	});

	it('are not left in English', () => {
		const same = Object.entries(translated)
			.filter(([key, sentence]) => sentence === english[key])
			.filter(([key]) => !MAY_EQUAL_ENGLISH.some((pattern) => pattern.test(key)))
			.map(([key]) => key);
		expect(same).toEqual([]);
	});

	it('are marked until a native reader has reviewed them', () => {
		expect(catalogue(locale)['$schema']).toBe(NATIVE_REVIEWED.includes(locale) ? undefined : UNREVIEWED);
	});
});

it('the translations follow the English; if not, change them, then run npm run language:changed -- KEY', () => {
	expect(listChanged()).toEqual([]);
	const record = { same: '8b1250', waiting: '8b1250 lg', changed: '000000 lg' };
	const texts = { same: 'One', waiting: 'One', changed: 'One', new: 'One' };
	expect(listChanged(texts, record)).toEqual(['changed', 'new']);
});

it('French punctuation has no-break spaces before it', () => {
	const loose = Object.entries(readSentences('fr')).filter(([, sentence]) =>
		/« |\u202f| [:;!?»]/.test(sentence)
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
	const known = Object.keys(english);

	it('every sentence is used', () => {
		expect(known.filter((key) => !used.has(key))).toEqual([]);
	});

	it('every used sentence exists', () => {
		const asked = [...used].filter((key) => areas.has(key?.split('_')[0]));
		const names = new Set(known);
		// A table column may start with the name of an area.
		const inCode = texts.flatMap((text) => [...text.matchAll(/\bm\.([a-z]\w+)/g)].map(([, key]) => key));
		expect(asked.filter((key) => inCode.includes(key) && !names.has(key ?? ''))).toEqual([]);
	});
});

it('“Wi‑Fi” has a non-breaking hyphen', () => {
	const breakable = LOCALES.flatMap((locale) =>
		Object.entries(readSentences(locale))
			.filter(([, sentence]) => /wi[-\u00ad\u2010]fi/i.test(sentence))
			.map(([key]) => `${locale} ${key}`)
	);
	expect(breakable).toEqual([]);
});
