/** Addresses that people type or paste, and those that browsers and researchers ask for by themselves. */
import { expect, it } from 'vitest';
import { browse } from '../../support/pages/browsing.ts';
import { useFixture } from '../../support/server/fixture.ts';

const fixture = useFixture({ database: 'sqlite' });
const visit = () => browse(fixture().server.url);

it.each([
	['/R/3', '/r/3'],
	['/r/3%20', '/r/3'],
	['/r/3%C2%A0', '/r/3'],
	['/r/3.', '/r/3'],
	['/Sw/R/3', '/sw/r/3'],
	['/KIOSK/3', '/kiosk/3'],
	['/R/3/Poster?x=y', '/r/3/poster?x=y'],
	['/Resume)', '/resume'],
	['/s/Aa_-1234567890abcdefgh.', '/s/Aa_-1234567890abcdefgh']
])('%s leads to %s', async (typed, meant) => {
	const response = await visit().raw(typed);
	expect([response.status, response.headers.get('location')]).toEqual([308, meant]);
});

it.each(['/r/3', '/splash/Abc', '/R2D2', '/s/Aa_-1234567890abcdefgh', '/v1/Routers', '/logos/A.'])(
	'%s is not led elsewhere',
	async (path) => {
		expect((await visit().raw(path)).status).not.toBe(308);
	}
);

it('tells researchers whom to write to, and browsers the icon of the site', async () => {
	const security = await visit().raw('/.well-known/security.txt');
	expect([security.status, security.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
	const text = await security.text();
	expect(text).toContain(`Contact: ${fixture().server.url}/help\n`);
	const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
	expect(expires).toBeGreaterThan(fixture().server.now());
	const icon = await fetch(`${fixture().server.url}/favicon.ico`);
	expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
});

it('forbids browsers to guess the type of every file', async () => {
	const { html } = await visit().get('/r/3');
	const built = /\/_app\/immutable\/[^"]+/.exec(html)?.[0] ?? '';
	expect(built).not.toBe('');
	const paths = [
		'/favicon.svg',
		'/favicon.ico',
		'/robots.txt',
		'/manifest.webmanifest',
		built,
		'/none',
		'/v1/routers'
	];
	for (const path of [...paths, '/healthz', '/openapi.json']) {
		const { headers } = await visit().raw(path);
		expect([path, headers.get('x-content-type-options')]).toEqual([path, 'nosniff']);
	}
});
