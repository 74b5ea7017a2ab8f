/**
 * The build's part of src/hydration/start.ts: puts it in the place of SvelteKit's start, whose router, loading and
 * deserialising are 11 KB (compressed) that no page of a buyer uses. Only in a build: the development server keeps
 * SvelteKit's own, which replaces modules in a running page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const START = join(import.meta.dirname, 'start.ts');

/** Files of SvelteKit by the end of their names: what must stand there, and what stands there instead. */
const REPLACED: readonly { file: string; expects: RegExp; code: string }[] = [
	{
		file: '/@sveltejs/kit/src/runtime/client/entry.js',
		expects: /^(\s*\/\/.*\n)*export \{ start, load_css \} from '\.\/client\.js';\s*$/,
		code: `
			import { start as begin } from ${JSON.stringify(START)};
			import { update } from './state.svelte.js';
			const whole = () => import('./client.js');
			export const start = (app, target, hydration) => begin({ whole, update }, app, target, hydration);
			export const load_css = async (files) => (await whole()).load_css(files);
		`
	},
	{
		// Its `updated` would bring the router along; the build says so when somebody imports it.
		file: '/@sveltejs/kit/src/runtime/app/state/index.js',
		expects: /^[^]*\nexport const page = BROWSER \? client_page : server_page;[^]*$/,
		code: `export { page } from '../../client/state.svelte.js';`
	},
	{
		// What it imports brings the router along, to tell `updated`.
		file: '/@sveltejs/kit/src/runtime/client/state.svelte.js',
		expects: /^import \{ updated_listener \} from '\.\/utils\.js';$/m,
		code: 'const updated_listener = {};'
	},
	{
		// Its announcer styles itself by an attribute, which our policy would have to allow in every page's headers:
		// src/lib/styles/base.css does it.
		file: '/generated/root.svelte',
		expects: /(?<=<div id="svelte-announcer"[^>]*) style="position: absolute;[^"]*"/,
		code: ''
	}
];

export function hydration(): Plugin {
	return {
		name: 'airtill:hydration',
		apply: 'build',
		enforce: 'pre',
		applyToEnvironment: (environment) => environment.name === 'client',
		load(id) {
			const one = REPLACED.find(({ file }) => id.endsWith(file));
			if (!one) return null;
			const text = readFileSync(id, 'utf8');
			if (!one.expects.test(text)) {
				this.error(`${one.file} is not what it was: see whether src/hydration still does what it does`);
			}
			return text.replace(one.expects, () => one.code);
		}
	};
}
