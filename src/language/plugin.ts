/**
 * The build's part of the portal's languages. Paraglide compiles the catalogues (`messages/AREA/LOCALE.json`) into
 * `src/lib/language/generated`; on the server every language is there, and each request picks its own. A browser gets
 * one small file with the sentences of its page language that components use, and no other: there
 * `#lib/language/messages.js` is replaced by functions that read from that file (src/lib/language/browser.ts).
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'vite';
import { LOCALES } from '../lib/language/locales.ts';

const GENERATED = 'src/lib/language/generated';
const MESSAGES = /\/src\/lib\/language\/messages\.js$/;
const SERVER_MESSAGES = /\/src\/lib\/language\/server-messages\.js$/;
const LOADERS = /\/src\/lib\/language\/loaders\.js$/;
const VIRTUAL = 'virtual:language/';
/** Sentences are asked for by their name, so that the build sees which ones a browser needs. */
const USE = /\bm\.([a-z][a-z0-9_]*)/g;

function filesUnder(folder: string, ending: RegExp): string[] {
	return readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((name) => ending.test(name))
		.map((name) => join(folder, name));
}

/** Names of the sentences that components and the code that runs beside them may show. */
function usedInBrowsers(root: string): string[] {
	const sources = [
		...filesUnder(join(root, 'src'), /\.svelte$/),
		...filesUnder(join(root, 'src/lib'), /^(?!server\/|language\/generated\/).*\.ts$/)
	];
	const names = new Set<string>();
	for (const file of sources) {
		for (const [, name] of readFileSync(file, 'utf8').matchAll(USE)) if (name) names.add(name);
	}
	const known = new Set(
		[...readFileSync(join(root, GENERATED, 'messages/en.js'), 'utf8').matchAll(/export const (\w+)/g)].map(
			([, name]) => name
		)
	);
	return [...names].filter((name) => known.has(name)).sort();
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
				const locale = id.slice(VIRTUAL.length + 1);
				const from = JSON.stringify(join(root, GENERATED, 'messages', `${locale}.js`));
				return `export { ${usedInBrowsers(root).join(', ')} } from ${from};`;
			}
			if (!isBrowser(this)) return null;
			const [path = ''] = id.split('?');
			if (SERVER_MESSAGES.test(path)) return 'export const s = {};';
			if (LOADERS.test(path)) {
				const entries = LOCALES.map((locale) => `${locale}: () => import('${VIRTUAL}${locale}')`);
				return `export const loaders = { ${entries.join(', ')} };`;
			}
			if (!MESSAGES.test(path)) return null;
			const functions = usedInBrowsers(root).map(
				(name) => `export const ${name} = (inputs) => sentences().${name}(inputs);`
			);
			return `import { sentences } from './browser.ts';\n${functions.join('\n')}`;
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
			if (file.includes('/src/language/messages/')) await compile();
		}
	};
}

/** Vite's plugins for the languages: the compiler first, so that what it makes can be read. */
export const language = (): Plugin[] => [compiler(), languageInBrowsers()];
