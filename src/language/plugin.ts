/**
 * The build's part of the portal's languages. Paraglide compiles the catalogues (`messages/AREA/LOCALE.json`) into
 * `src/lib/i18n/generated`; on the server every language is there, and each request picks its own. A browser gets
 * one small file with the sentences of its page language that the components of this page use, and no other: there
 * `m.name(…)` reads from that file (src/lib/i18n/browser.ts).
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'vite';
import { LOCALES } from '../lib/i18n/locales.ts';
import { languageOnServer } from './on-server.ts';
import { ELSEWHERE, SECTIONS, USE, usedSentences } from './used.ts';

const GENERATED = 'src/lib/i18n/generated';
const SERVER_MESSAGES = /\/src\/lib\/i18n\/server-messages\.js$/;
const MESSAGES_IMPORT = /import \* as m from '[^']*\/i18n\/messages\.js';/;
const LOADERS = /\/src\/lib\/i18n\/loaders\.js$/;
const VIRTUAL = 'virtual:language/';

/** Every sentence of a language as the compiler wrote it, by its name. */
function compiled(root: string, locale: string): Map<string, string> {
	const text = readFileSync(join(root, GENERATED, 'messages', `${locale}.js`), 'utf8');
	return new Map(
		[...text.matchAll(/^export const (\w+) = .*?^};/gms)].map(([code, name = '']) => [name, code] as const)
	);
}

function languageInBrowsers(): Plugin {
	let root = process.cwd();
	const isBrowser = (plugin: { environment: { name: string } }) => plugin.environment.name === 'client';
	return {
		name: 'airtill:language-in-browsers',
		enforce: 'pre',
		configResolved: (config) => {
			root = config.root;
		},
		resolveId: (id) => (id.startsWith(VIRTUAL) ? `\0${id}` : null),
		load(id) {
			if (id.startsWith(`\0${VIRTUAL}`)) {
				const [locale = '', section = ''] = id.slice(VIRTUAL.length + 1).split('/');
				const [spoken, english] = [compiled(root, locale), compiled(root, 'en')];
				const names = usedSentences(root).get(section) ?? [];
				return names.map((name) => spoken.get(name) ?? english.get(name) ?? '').join('\n');
			}
			if (isBrowser(this) && SERVER_MESSAGES.test(id.split('?')[0] ?? '')) return 'export const s = {};';
			if (!isBrowser(this) || !LOADERS.test(id.split('?')[0] ?? '')) return null;
			const entries = LOCALES.flatMap((locale) =>
				[...SECTIONS, ELSEWHERE].map(
					(section) => `'${locale}/${section}': () => import('${VIRTUAL}${locale}/${section}')`
				)
			);
			return `export const loaders = { ${entries.join(', ')} };`;
		},
		transform(code) {
			if (!isBrowser(this) || !MESSAGES_IMPORT.test(code)) return null;
			return code
				.replace(MESSAGES_IMPORT, "import { sentences } from '#lib/i18n/browser.ts';")
				.replace(USE, 'sentences().$1');
		}
	};
}

/** In a process of its own: the compiler leaves something open that would keep Vite from ending. */
const compile = () => promisify(execFile)(process.execPath, [join(import.meta.dirname, 'compile.ts')]);

/** Compiles the catalogues once for each process, and again when one of them changes under the development server. */
function compiler(): Plugin {
	let compiled: Promise<unknown> | null = null;
	return {
		name: 'airtill:language-compiler',
		enforce: 'pre',
		async buildStart() {
			await (compiled ??= compile());
		},
		async hotUpdate({ file }) {
			if (file.includes('/src/lib/i18n/messages/')) await compile();
		}
	};
}

/** Vite's plugins for the languages: the compiler first, so that what it makes can be read. */
export const language = (): Plugin[] => [compiler(), languageInBrowsers(), languageOnServer()];
