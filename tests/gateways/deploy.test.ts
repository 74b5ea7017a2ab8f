/** The files in `deploy/`: systemd accepts the unit, and the real nginx in front of the built server serves buyers. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { type IncomingMessage, createServer, get as askPlain } from 'node:http';
import { get } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../support/gateways/certificates.ts';
import { until } from '../support/lab/network-lab.ts';
import { freePort } from '../support/server/ports.ts';
import { root, startServer, type TestServer } from '../support/server/server.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'airtill-deploy-'));
let server: TestServer;
let origin = '';

/** A file of `deploy/`, with the values that an administrator puts in. Each must be there to be replaced. */
function filledIn(name: string, values: Readonly<Record<string, string>>): string {
	let text = readFileSync(path.join(root, 'deploy', name), 'utf8');
	for (const [example, value] of Object.entries(values)) {
		expect(text).toContain(example);
		text = text.replaceAll(example, value);
	}
	return text;
}

beforeAll(async () => {
	origin = `https://wifi.test:${await freePort()}`;
	const env = { ORIGIN: origin, ADDRESS_HEADER: 'X-Forwarded-For', KEEP_ALIVE_TIMEOUT: '75' };
	server = await startServer({ env });
});
afterAll(async () => {
	await server.stop();
	rmSync(folder, { recursive: true });
});

describe('nginx', () => {
	let nginx: ChildProcess;
	let plain = '';
	const city = createServer((_request, response) => response.end('kampala'));
	let errors = '';

	beforeAll(async () => {
		city.listen(0, '127.0.0.1');
		await once(city, 'listening');
		const port = await freePort();
		plain = `http://127.0.0.1:${port}`;
		const { cert, key } = selfSigned('wifi.test');
		writeFileSync(path.join(folder, 'fullchain.pem'), cert);
		writeFileSync(path.join(folder, 'privkey.pem'), key);
		const { hostname, port: tlsPort } = new URL(origin);
		const site = filledIn('nginx.conf', {
			'/etc/letsencrypt/live/wifi.example.org/': `${folder}/`,
			'https://wifi.example.org': origin,
			'# kampala.example.org': 'kampala.test',
			'https://kampala.example.org': 'https://kampala.test',
			'# upstream': 'upstream',
			'127.0.0.1:3001': `127.0.0.1:${(city.address() as AddressInfo).port}`,
			'wifi.example.org': hostname,
			'127.0.0.1:3000': new URL(server.url).host,
			':80;': `:${port};`,
			'listen 80;': `listen ${port};`,
			'443 ssl': `${tlsPort} ssl`,
			'/var/log/nginx/': `${folder}/`
		});
		writeFileSync(path.join(folder, 'airtill.conf'), site);
		const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
		writeFileSync(
			path.join(folder, 'nginx.conf'),
			`user root; daemon off; pid ${folder}/pid; events {}
			http {
				${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
				include ${folder}/airtill.conf;
			}`
		);
		nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', path.join(folder, 'nginx.conf')]);
		nginx.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
		await until('nginx answers', () =>
			fetch(plain).then(
				() => true,
				() => nginx.exitCode !== null
			)
		);
		expect(errors).toBe('');
	});
	afterAll(() => {
		nginx.kill();
		city.close();
	});

	const status = async (url: string, init: RequestInit = {}) =>
		(await fetch(plain + url, { redirect: 'manual', ...init })).status;

	it('serves buyers over plain http, and their forms', async () => {
		expect(await status('/')).toBe(200);
		expect(await status('/sw')).toBe(200);
		expect(await status('/docs')).toBe(200);
		expect(await status('/splash/unknown')).toBe(404);
		const headers = { origin, 'content-type': 'application/x-www-form-urlencoded' };
		expect(await status('/resume', { method: 'POST', headers, body: 'code=' })).not.toBe(403);
	});

	it.each([
		...['/owner', '/sw/developer/keys?a=b', '/admin/reviews', '/v1/routers', '//owner', '/%6fwner'],
		...['/docs/api', '/metrics']
	])('sends %s to https', async (url) => {
		const response = await fetch(plain + url, { redirect: 'manual' });
		expect(response.status).toBe(308);
		expect(response.headers.get('location')).toBe(origin + url);
	});

	it('serves everything over TLS, with the address of the client', async () => {
		const { port } = new URL(origin);
		const status = await new Promise((resolve, reject) => {
			const request = get(
				{ port, path: '/v1/routers', rejectUnauthorized: false, headers: { 'x-forwarded-for': 'typed' } },
				(response) => resolve(response.resume().statusCode)
			);
			request.on('error', reject);
		});
		expect(status).toBe(401);
	});

	it('sends the host of a city to its own process', async () => {
		const ask = (url: string) =>
			new Promise<IncomingMessage>((resolve, reject) => {
				askPlain(plain + url, { headers: { host: 'kampala.test' } }, resolve).on('error', reject);
			});
		expect(String(await (await ask('/')).setEncoding('utf8').toArray())).toBe('kampala');
		expect((await ask('/owner')).resume().headers.location).toBe('https://kampala.test/owner');
	});

	it('writes no address of a purchase into its log, not even while Airtill is down', async () => {
		await server.kill();
		expect(await status('/s/secret')).toBe(502);
		await server.restart();
		expect(readFileSync(path.join(folder, 'error.log'), 'utf8') + errors).not.toContain('/s/secret');
	});
});

it('the unit is accepted by systemd', () => {
	const unit = path.join(folder, 'airtill.service');
	const data = '/opt/airtill/data';
	writeFileSync(unit, filledIn('airtill.service', { [data]: server.dataDir, '/opt/airtill': root }));
	const { stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
	expect(stderr.split('\n').filter((line) => line.includes('airtill'))).toEqual([]);
});

it('both proxies require TLS for the same addresses, which are those of every sign-in and key', () => {
	const rules = ['nginx.conf', 'Caddyfile'].map(
		(name) => /(\/\(\?:\[a-z\]\{2\}\/\)\?\S*\(\?:\/\|\$\))/.exec(filledIn(name, {}))?.[1]
	);
	expect(rules[0]).toMatch(/owner\|developer\|admin\|v1/);
	expect(rules[1]).toBe(rules[0]);
});
