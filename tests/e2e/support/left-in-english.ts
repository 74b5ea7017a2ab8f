import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import type { Locale } from '#lib/i18n/locales.ts';

const messages = fileURLToPath(new URL('../../../src/lib/i18n/messages', import.meta.url));

const read = (locale: Locale) =>
	JSON.parse(readFileSync(path.join(messages, `${locale}.json`), 'utf8')) as Record<string, string>;

/** Matches a whole sentence with any parameters. */
function pattern(sentence: string): RegExp {
	const parts = sentence
		.split(/\{\w+\}/)
		.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(' ', '\\s'));
	return new RegExp(`^${parts.join('.+')}$`, 's');
}

/** Returns the English sentences that differ from their translation. */
function english(locale: Locale): RegExp[] {
	const translated = read(locale);
	return Object.entries(read('en'))
		.filter(([key, sentence]) => translated[key] !== undefined && translated[key] !== sentence)
		.filter(([, sentence]) => /[a-z]{3}/i.test(sentence.replace(/\{\w+\}/g, '')))
		.map(([, sentence]) => pattern(sentence));
}

/** Returns all texts of a page that a person reads or hears, including title and description. */
const textsOf = (page: Page): Promise<string[]> =>
	page.evaluate(() => {
		const texts = [
			document.title,
			document.querySelector('meta[name=description]')?.getAttribute('content') ?? ''
		];
		for (const element of document.body.querySelectorAll('*')) {
			if (element.closest('script, style, noscript')) continue;
			for (const name of ['aria-label', 'placeholder', 'alt', 'title']) {
				texts.push(element.getAttribute(name) ?? '');
			}
			// A sentence may contain an element, such as a name in bold.
			texts.push(element.children.length < 4 ? (element.textContent ?? '') : '');
			for (const node of element.childNodes) {
				if (node.nodeType === Node.TEXT_NODE) texts.push(node.textContent ?? '');
			}
		}
		return [...new Set(texts.map((text) => text.trim()).filter(Boolean))];
	});

/** Returns the texts of a page that are English although they have a translation. */
export async function leftInEnglish(page: Page, locale: Locale): Promise<string[]> {
	const sentences = english(locale);
	const texts = await textsOf(page);
	return texts.filter((text) => sentences.some((sentence) => sentence.test(text)));
}
