import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { sveltekit } from '@sveltejs/kit/vite';
import { defineConfig } from 'vite';

/** Packages that are needed at every start and work as a part of one file. */
const BUNDLED = [
	'@asteasolutions/zod-to-openapi',
	'@hono/zod-openapi',
	'csv-parse',
	'hono',
	'ipaddr.js',
	'kysely',
	'libphonenumber-js',
	'pmtiles',
	'structured-headers',
	'ulid',
	'zod'
];

export default defineConfig(({ command }) => ({
	plugins: [
		paraglideVitePlugin({
			project: './project.inlang',
			outdir: './src/lib/i18n/generated',
			// The same as in `npm run language`, which compiles for tools that run without Vite.
			outputStructure: 'locale-modules',
			strategy: ['custom-address', 'preferredLanguage', 'baseLocale'],
			emitReadme: false
		}),
		sveltekit()
	],
	// Old phones: without this the CSS would use range media queries and `inset`, which their WebViews drop. Adds prefixes.
	build: { cssTarget: ['chrome69', 'safari12.1', 'firefox60'] },
	// The scripts that pages load as modules (`?worker&url`).
	worker: { format: 'es' },
	environments: {
		// Not for the server: lowered private fields cost a tenth of each API call.
		client: { build: { target: ['chrome87', 'safari14', 'firefox78'] } },
		ssr: {
			build: {
				target: 'node22',
				// A running server keeps the text of its files in memory: what tools alone read is not in them.
				rolldownOptions: { output: { comments: { legal: true, annotation: true, jsdoc: false } } }
			}
		}
	},
	ssr: {
		// It names Svelte among the frameworks it can serve, and would be taken for a Svelte library and bundled.
		external: ['better-auth'],
		// Bundled without what nobody uses: reading their 550 files took half of a start.
		noExternal: command === 'build' ? BUNDLED : []
	},
	server: { port: Number(process.env.PORT ?? 3000) }
}));
