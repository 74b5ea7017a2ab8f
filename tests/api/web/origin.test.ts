/** An installation with ORIGIN that is opened by another name: pages lead to it, and no form is refused for its name. */
import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { useFixture } from '../../support/server/fixture.ts';

const ORIGIN = 'https://wifi.example';
const fixture = useFixture({ database: 'sqlite', env: { ORIGIN } });

interface Answer {
	status: number;
	location: string | undefined;
	text: string;
}

/** Sends a request under a name, as a browser that navigates. */
function ask(
	name: string,
	path: string,
	{ headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
	{ server: { port } } = fixture()
): Promise<Answer> {
	const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
	return new Promise((resolve, reject) => {
		const sent = request(
			{
				...{ host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST' },
				headers: { accept: 'text/html', ...type, ...headers, host: name }
			},
			(response) => {
				let text = '';
				response.setEncoding('utf8').on('data', (part: string) => (text += part));
				response.on('end', () =>
					resolve({ status: response.statusCode ?? 0, location: response.headers.location, text })
				);
			}
		);
		sent.on('error', reject).end(body);
	});
}

const OTHER = 'shop.example';

it('a page opened by another name leads to ORIGIN, with its path and query', async () => {
	for (const path of [
		...['/', '/fr/r/3', '/docs', '/owner/sign-in', '/developer', '/admin', '/kiosk/3', '/none']
	]) {
		const { status, location } = await ask(OTHER, path);
		expect([status, location], path).toEqual([307, `${ORIGIN}${path}?led=1`]);
	}
	expect((await ask(OTHER, '/?lat=0.3&lon=32.5')).location).toBe(`${ORIGIN}/?lat=0.3&lon=32.5&led=1`);
	expect((await ask(OTHER, '//evil.example/')).location).toMatch(/^https:\/\/wifi\.example\//);
	// Under its own name it is shown, at its own address.
	expect((await ask('wifi.example', '/r/3?led=1')).location).toBe('/r/3');
	for (const name of ['wifi.example', 'WIFI.example:443']) expect((await ask(name, '/r/3')).status).toBe(200);
});

it.each([
	...['/healthz', '/readyz', '/v1/routers', '/openapi.json', '/map-routers?bounds=0,0,1,1', '/basemap'],
	...['/splash/unknown', '/guest/s/default/', '/captive-portal/unknown', '/resume', '/fr/resume'],
	...['/s/AAAAAAAAAAAAAAAAAAAAAAAA', '/pass/AAAAAAAAAAAAAAAAAAAAAAAA']
])('%s answers under every name: a program or a device behind a gateway asks', async (path) => {
	const isPage = /splash|guest|captive|resume|\/s\/|pass/.test(path);
	const { location } = await ask(OTHER, path, { headers: isPage ? {} : { accept: '*/*' } });
	expect(location ?? '').not.toContain(ORIGIN);
});

it('calls of operators and gateways are not led anywhere', async () => {
	for (const path of ['/callbacks/none/a', '/radius/none', '/opennds/none/binauth']) {
		const { status } = await ask(OTHER, path, { body: 'a=b' });
		expect([307, 403], path).not.toContain(status);
	}
});

it('a form is taken under the name to which it is sent, and refused from any other site', async () => {
	const send = (name: string, headers: Record<string, string>) =>
		ask(name, '/resume', { headers, body: 'code=AAAA-AAAA' });
	for (const name of [OTHER, 'wifi.example', '192.0.2.7:3000']) {
		expect((await send(name, { origin: `http://${name}` })).text, name).toContain('We can’t find this code.');
		expect((await send(name, { referer: `http://${name}/resume` })).status, name).toBe(404);
		expect((await send(name, { origin: 'https://evil.example' })).status, name).toBe(403);
		expect((await send(name, {})).status, name).toBe(403);
	}
	expect((await send(OTHER, { origin: ORIGIN })).status).toBe(404);
});

describe('behind a proxy that replaces the name', () => {
	const proxied = useFixture({ database: 'sqlite', env: { ORIGIN } });
	const askIt = (name: string, path: string, headers: Record<string, string> = {}) =>
		ask(name, path, { headers }, proxied());

	it('no page leads in a circle', async () => {
		// On the machine itself, and one that names what it has replaced.
		expect((await askIt('127.0.0.1:3000', '/r/3')).status).toBe(200);
		expect((await askIt('app', '/r/3', { 'x-forwarded-host': 'wifi.example' })).status).toBe(200);
		const { location = '' } = await askIt('app:3000', '/r/3');
		expect(location).toBe(`${ORIGIN}/r/3?led=1`);
		expect((await askIt('app:3000', location.slice(ORIGIN.length))).status).toBe(200);
		expect((await askIt('app:3000', '/r/3')).status).toBe(200);
		expect(proxied().server.stderr()).toContain('a proxy replaces the Host header');
	});
});
