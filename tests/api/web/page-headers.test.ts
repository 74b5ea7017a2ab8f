/** Headers of pages: few bytes, because they are not compressed, and a policy that allows the page's inline code only. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { browse } from '../../support/pages/browsing.ts';
import { useFixture } from '../../support/server/fixture.ts';

/** Share of the headers in the 14 KB of the first response. */
const HEADER_BYTES = 900;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('a page', () => {
	const fixture = useFixture({});

	it.each([
		['for buyers', '/r/3'],
		['of an error', '/nothing-here'],
		['of the documentation', '/docs/limits']
	])('%s allows its own inline scripts and styles, and no others', async (_what, path) => {
		const { html, headers } = await browse(fixture().server.url).get(path);
		const policy = headers.get('content-security-policy') ?? '';
		const sources = new Map(
			policy.split('; ').map((directive) => {
				const [name = '', ...list] = directive.split(' ');
				return [name, list];
			})
		);
		expect(sources.get('default-src')).toEqual(["'none'"]);
		expect(policy).not.toContain('unsafe');
		expect(sources.has('style-src-attr')).toBe(false);
		expect(html).not.toMatch(/<[^>]* style=/);

		const inline = [...html.matchAll(/<script(?![^>]* src=)[^>]*>([^]*?)<\/script>/g)];
		expect(inline.length).toBeGreaterThan(0);
		expect(sources.get('script-src')).toEqual(["'self'", ...inline.map(([, text = '']) => hashOf(text))]);
		for (const [, nonce] of html.matchAll(/<style nonce="([^"]+)">/g)) {
			expect(sources.get('style-src')).toEqual(["'self'", `'nonce-${nonce}'`]);
		}
	});

	it('is not stored by caches, but for going back to an order by the browser itself, and its headers are small', async () => {
		const person = browse(fixture().server.url);
		for (const path of ['/', '/resume']) {
			expect((await person.get(path)).headers.get('cache-control'), path).toBe('no-store');
		}
		const { headers } = await person.get('/r/3');
		expect(headers.get('cache-control')).toBe('private, no-cache');
		const bytes = [...headers].reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
		expect(bytes).toBeLessThanOrEqual(HEADER_BYTES);
	});
});
