/** What goes out before a page: few bytes, since they are not compressed, and a policy that allows what the page has. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { browse } from '../support/browsing.ts';
import { useFixture } from '../support/fixture.ts';

/** Of the headers of a page: a share of the 14 KB of the first answer. */
const HEADER_BYTES = 900;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

describe('a page', () => {
	const fixture = useFixture({});

	it.each([
		['with a script of its own', '/r/3', true],
		['of an error', '/nothing-here', true],
		['without script', '/docs/errors', false]
	])('%s allows the inline scripts and styles that it has, and no others', async (_what, path, isNonced) => {
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

		const inline = [...html.matchAll(/<script(?![^>]* src=)([^>]*)>([^]*?)<\/script>/g)];
		expect(inline.length).toBeGreaterThan(0);
		for (const [, attributes = '', text = ''] of inline) {
			const [, nonce = ''] = /nonce="([^"]+)"/.exec(attributes) ?? [];
			expect(sources.get('script-src')).toContain(isNonced ? `'nonce-${nonce}'` : hashOf(text));
		}
		// 'self' and one more: none is allowed that the page does not have.
		expect(sources.get('script-src')).toHaveLength(2);
		for (const [, nonce] of html.matchAll(/<style nonce="([^"]+)">/g)) {
			expect(sources.get('style-src')).toEqual(["'self'", `'nonce-${nonce}'`]);
		}
	});

	it('comes with headers that say something, in few bytes', async () => {
		const { headers } = await browse(fixture().server.url).get('/r/3');
		expect(headers.has('etag')).toBe(false);
		expect(headers.has('x-sveltekit-page')).toBe(false);
		expect(headers.get('cache-control')).toBe('no-store');
		const bytes = [...headers].reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
		expect(bytes).toBeLessThanOrEqual(HEADER_BYTES);
	});
});
