import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import adapterNode from '@sveltejs/adapter-node';

/** The hash of the script in app.html, which runs on every page. SvelteKit adds a nonce to its own scripts. */
function templateScript() {
	const [, text = ''] = /<script>(.*?)<\/script>/s.exec(readFileSync('src/app.html', 'utf8')) ?? [];
	return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** @type {import('@sveltejs/kit').Config} */
export default {
	compilerOptions: { runes: true, discloseVersion: false },
	kit: {
		adapter: adapterNode(),
		// The first answer carries its CSS: one round trip less on a slow link.
		inlineStyleThreshold: 64 * 1024,
		// Keeps the list of all routes off the pages that hydrate.
		router: { resolution: 'server' },
		// Off here because it would answer /v1 in plain text; src/hooks.server.ts does the same check for pages.
		csrf: { trustedOrigins: ['*'] },
		csp: {
			mode: 'nonce',
			directives: {
				'default-src': ['none'],
				'script-src': ['self', templateScript()],
				'style-src': ['self'],
				'img-src': ['self', 'data:'],
				'connect-src': ['self'],
				'manifest-src': ['self'],
				'form-action': ['self'],
				'base-uri': ['none'],
				'frame-ancestors': ['none']
			}
		}
	}
};
