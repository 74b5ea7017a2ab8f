/** The ground of the map as browsers get it: a file by ranges, and tiles of somebody's server through ours. */
import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTileSimulator, tilePicture, type TileReply, type TileSimulator } from '../simulators/tiles.ts';
import { makeArchive } from '../support/basemap.ts';
import { cli, startServer, type TestServer } from '../support/server.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const folder = mkdtempSync(path.join(tmpdir(), 'airtill-basemap-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a PMTiles file', () => {
	const file = path.join(folder, 'city.pmtiles');
	const content = makeArchive(300_000);
	let server: TestServer;
	let address: string;

	beforeAll(async () => {
		writeFileSync(file, content);
		server = await startServer({ env: { BASEMAP: file } });
		const facts = await (await fetch(`${server.url}/basemap`)).json();
		expect(facts).toEqual({
			kind: 'pmtiles',
			attribution: '© OpenStreetMap contributors',
			version: expect.stringMatching(/^[\w-]{16}$/),
			bounds: [0.2, 32.5, 0.45, 32.7],
			maxZoom: 15
		});
		address = `${server.url}/basemap/tiles.pmtiles?v=${(facts as { version: string }).version}`;
	});
	afterAll(() => server?.stop());

	const ask = (headers: Record<string, string> = {}, method = 'GET', url = address) =>
		fetch(url, { method, headers: { 'accept-encoding': 'identity', ...headers } });
	const bytes = async (response: Response) => Buffer.from(await response.arrayBuffer());

	it('comes whole, may be kept for ever under its version, and says that it has ranges', async () => {
		const response = await ask();
		expect(response.status).toBe(200);
		expect(Object.fromEntries(response.headers)).toMatchObject({
			'accept-ranges': 'bytes',
			'cache-control': 'public, max-age=31536000, immutable',
			'content-length': String(content.length),
			'content-type': 'application/vnd.pmtiles',
			etag: expect.stringMatching(/^"[\w-]+"$/),
			'last-modified': new Date(Math.floor(statSync(file).mtimeMs / 1000) * 1000).toUTCString()
		});
		expect((await bytes(response)).equals(content)).toBe(true);
	});

	it('under another version or none is asked for again each time', async () => {
		for (const url of [`${server.url}/basemap/tiles.pmtiles`, `${server.url}/basemap/tiles.pmtiles?v=old`]) {
			const response = await ask({ range: 'bytes=0-6' }, 'GET', url);
			expect([response.status, response.headers.get('cache-control')]).toEqual([206, 'no-cache']);
			expect((await bytes(response)).toString()).toBe('PMTiles');
		}
	});

	const size = content.length;
	it.each([
		['bytes=0-0', 0, 0],
		['bytes=0-126', 0, 126],
		['bytes=127-16383', 127, 16_383],
		['bytes=100-', 100, size - 1],
		['bytes=-10', size - 10, size - 1],
		[`bytes=-${size + 5}`, 0, size - 1],
		[`bytes=${size - 1}-${size + 100}`, size - 1, size - 1]
	])('%s brings just these bytes', async (range, start, end) => {
		const response = await ask({ range });
		expect(response.status).toBe(206);
		expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${size}`);
		expect(response.headers.get('content-length')).toBe(String(end - start + 1));
		expect((await bytes(response)).equals(content.subarray(start, end + 1))).toBe(true);
	});

	it.each([`bytes=${size}-`, `bytes=${size + 1}-${size + 2}`, 'bytes=-0'])(
		'%s is beyond its end',
		async (range) => {
			const response = await ask({ range });
			expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
			expect((await bytes(response)).length).toBe(0);
		}
	);

	it.each(['bytes=5-1', 'bytes=a-b', 'bytes=0-1,5-6', 'items=0-5', 'bytes=-', 'bytes=0x1-5'])(
		'%s is no single range: the whole file comes',
		async (range) => {
			const response = await ask({ range });
			expect([response.status, (await bytes(response)).length]).toEqual([200, size]);
		}
	);

	it('a range that continues other bytes brings the whole file (If-Range)', async () => {
		const { headers } = await ask({}, 'HEAD');
		const range = 'bytes=0-9';
		for (const [condition, status] of [
			[headers.get('etag') ?? '', 206],
			[headers.get('last-modified') ?? '', 206],
			['"other"', 200],
			[`W/${headers.get('etag') ?? ''}`, 200],
			['Sat, 01 Jan 2000 00:00:00 GMT', 200]
		] as const) {
			const response = await ask({ range, 'if-range': condition });
			expect([condition, response.status]).toEqual([condition, status]);
			await response.arrayBuffer();
		}
	});

	it('is not sent again to a browser that has it, and not to one that wants other bytes', async () => {
		const { headers } = await ask({}, 'HEAD');
		const etag = headers.get('etag') ?? '';
		const modified = headers.get('last-modified') ?? '';
		expect((await ask({ 'if-none-match': etag })).status).toBe(304);
		expect((await ask({ 'if-none-match': `"x", W/${etag}` })).status).toBe(304);
		expect((await ask({ 'if-modified-since': modified })).status).toBe(304);
		expect(
			(await ask({ 'if-none-match': '"x"', 'if-modified-since': modified, range: 'bytes=0-1' })).status
		).toBe(206);
		expect((await ask({ 'if-match': '"x"', range: 'bytes=0-1' })).status).toBe(412);
	});

	it('HEAD says the same without the bytes', async () => {
		const whole = await ask({}, 'HEAD');
		expect([whole.status, whole.headers.get('content-length')]).toEqual([200, String(size)]);
		const part = await ask({ range: 'bytes=0-9' }, 'HEAD');
		expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 0-9/${size}`]);
		expect((await bytes(part)).length).toBe(0);
	});

	it('that is replaced gets another version and ETag, without a new start', async () => {
		const before = (await ask({}, 'HEAD')).headers.get('etag');
		const later = Date.now() / 1000 + 5;
		utimesSync(file, later, later);
		const response = await ask({ range: 'bytes=0-9', 'if-range': before ?? '' });
		expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
		expect(response.headers.get('etag')).not.toBe(before);
		await response.arrayBuffer();
	});

	it.each([
		'/basemap/..%2f..%2fetc%2fpasswd',
		'/basemap/%2e%2e/%2e%2e/etc/passwd',
		'/basemap/tiles.pmtiles/../../../../etc/passwd',
		'/basemap/city.pmtiles',
		'/basemap/0/0/0.png'
	])('%s leads to no other file', async (pathname) => {
		const status = await new Promise((resolve, reject) => {
			httpRequest({ port: server.port, path: pathname }, (response) => {
				response.resume();
				resolve(response.statusCode);
			})
				.on('error', reject)
				.end();
		});
		expect(status).toBe(404);
	});

	it('many of whose ranges are asked for at once and left half read leaves none open', async () => {
		const open = () => readdirSync(`/proc/${server.pid}/fd`).length;
		const before = open();
		await Promise.all(
			Array.from({ length: 30 }, async () => {
				const stop = new AbortController();
				const response = await fetch(address, { signal: stop.signal });
				await response.body?.getReader().read();
				stop.abort();
			})
		);
		await expect.poll(open, { timeout: 10_000 }).toBeLessThanOrEqual(before + 5);
	});
});

describe('a file that is no map', () => {
	it('is said by doctor, which praises a good one and warns where it shows another city', async () => {
		const file = path.join(folder, 'doctor.pmtiles');
		writeFileSync(file, makeArchive(1000, { version: 2 }));
		const { code, stdout } = await doctor(file);
		expect(stdout).toMatch(/^FAIL map: .* version 2, .* - make it anew with "pmtiles extract"/m);
		expect(code).toBe(1);
		writeFileSync(file, makeArchive(1000));
		expect((await doctor(file)).stdout).toMatch(/^ok map: .*zoom up to 15, 32\.5,0\.2 to 32\.7,0\.45$/m);
		writeFileSync(file, makeArchive(1000, { bounds: [115, -32, 116, -31] }));
		expect((await doctor(file)).stdout).toMatch(/^warn map: .*MAP_CENTRE is outside - set MAP_CENTRE/m);
	});

	it('costs the streets and not the page', async () => {
		const file = path.join(folder, 'broken.pmtiles');
		writeFileSync(file, 'nothing');
		const server = await startServer({ env: { BASEMAP: file, AIRTILL_LOG_LEVEL: 'silent' } });
		try {
			expect(await (await fetch(`${server.url}/basemap`)).json()).toEqual({ kind: 'none' });
			expect((await fetch(server.url)).status).toBe(200);
		} finally {
			await server.stop();
		}
	});

	const doctor = (file: string) => {
		const dataDir = mkdtempSync(path.join(folder, 'data-'));
		return cli(['doctor'], {
			env: {
				PATH: process.env['PATH'] ?? '',
				DATA_DIR: dataDir,
				DATABASE_URL: `file:${dataDir}/airtill.db`,
				BASEMAP: file
			}
		});
	};
});

describe('a tile server behind ours', () => {
	let provider: TileSimulator;
	const servers: TestServer[] = [];

	beforeAll(async () => {
		provider = await startTileSimulator();
	});
	afterEach(async () => {
		provider.reply(null);
		await Promise.all(servers.splice(0).map((server) => server.stop()));
	});
	afterAll(() => provider?.stop());

	async function start(env: Record<string, string> = {}): Promise<TestServer> {
		const server = await startServer({
			env: {
				BASEMAP: provider.template,
				BASEMAP_ATTRIBUTION: '© Tile Makers',
				BASEMAP_ALLOW_PRIVATE: '1',
				AIRTILL_LOG_LEVEL: 'silent',
				...env
			}
		});
		servers.push(server);
		return server;
	}
	const tile = (server: TestServer, place: string, headers: Record<string, string> = {}) =>
		fetch(`${server.url}/basemap/${place}.png`, { headers });
	/** Status of the answer, and how often the provider was asked for it. */
	async function asking(server: TestServer, place: string): Promise<[number, number]> {
		const before = provider.asked.length;
		const response = await tile(server, place);
		await response.arrayBuffer();
		return [response.status, provider.asked.length - before];
	}

	it('gives its tile to the page, from the disk the second time, and is told who asks', async () => {
		const server = await start({ ORIGIN: 'https://wifi.example' });
		expect(await (await fetch(`${server.url}/basemap`)).json()).toEqual({
			kind: 'tiles',
			attribution: '© Tile Makers',
			maxZoom: 19
		});
		const first = await tile(server, '3/4/5');
		expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/png']);
		expect(Buffer.from(await first.arrayBuffer()).equals(tilePicture(3, 4, 5))).toBe(true);
		expect(provider.asked.at(-1)).toMatchObject({
			path: '/3/4/5.png?key=test',
			headers: { 'user-agent': 'Airtill/1.0 (Wi-Fi map; https://wifi.example)' }
		});
		expect(provider.asked.at(-1)?.headers.cookie).toBeUndefined();
		expect(await asking(server, '3/4/5')).toEqual([200, 0]);
		await server.restart();
		expect(await asking(server, '3/4/5')).toEqual([200, 0]);
		const etag = first.headers.get('etag') ?? '';
		expect((await tile(server, '3/4/5', { 'if-none-match': etag })).status).toBe(304);
	});

	it('is asked for tiles of the map only', async () => {
		const server = await start({ BASEMAP_MAX_ZOOM: '5' });
		for (const place of [
			'6/0/0',
			'2/4/0',
			'2/0/4',
			'-1/0/0',
			'1/0/01',
			'1e0/0/0',
			'1/%2e%2e/0',
			'0/0/0%3Fkey=1',
			'1.0/0/0'
		]) {
			expect([place, ...(await asking(server, place))]).toEqual([place, 404, 0]);
		}
	});

	it('says how long its tiles last, and is asked again with what it called them', async () => {
		const server = await start();
		provider.reply({ headers: { 'cache-control': 'public, max-age=600', etag: '"v1"' } });
		const first = await tile(server, '4/1/1');
		expect(first.headers.get('cache-control')).toBe('public, max-age=600');
		await server.advance(9 * MINUTE_MS);
		expect(await asking(server, '4/1/1')).toEqual([200, 0]);
		await server.advance(2 * MINUTE_MS);
		provider.reply({ status: 304, headers: { 'cache-control': 'max-age=600', etag: '"v1"' } });
		expect(await asking(server, '4/1/1')).toEqual([200, 1]);
		expect(provider.asked.at(-1)?.headers['if-none-match']).toBe('"v1"');
		expect(await asking(server, '4/1/1')).toEqual([200, 0]);

		provider.reply({ headers: { 'cache-control': 'no-store' } });
		expect((await tile(server, '4/2/2')).headers.get('cache-control')).toBe('no-store');
		expect(await asking(server, '4/2/2')).toEqual([200, 1]);

		provider.reply(null);
		expect((await tile(server, '4/3/3')).headers.get('cache-control')).toBe('public, max-age=86400');
		await server.advance(6 * DAY_MS);
		expect(await asking(server, '4/3/3')).toEqual([200, 0]);
	});

	it('that is away: what is on the disk is shown however old, and it is left alone for a while', async () => {
		const server = await start();
		provider.reply({ headers: { 'cache-control': 'max-age=60' } });
		expect(await asking(server, '5/1/1')).toEqual([200, 1]);
		await server.advance(30 * DAY_MS);
		provider.reply('drop');
		expect(await asking(server, '5/1/1')).toEqual([200, 1]);
		const unknown = await tile(server, '5/9/9');
		expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '30']);
		await asking(server, '5/9/8');
		// Three failures in a row: now nobody is asked.
		expect(await asking(server, '5/1/1')).toEqual([200, 0]);
		expect(await asking(server, '5/9/7')).toEqual([503, 0]);
		provider.reply(null);
		await server.advance(31_000);
		expect(await asking(server, '5/9/7')).toEqual([200, 1]);
	});

	it('that has no such tile is not asked again for ten minutes', async () => {
		const server = await start();
		provider.reply({ status: 404, body: 'nothing' });
		expect(await asking(server, '6/1/1')).toEqual([404, 1]);
		expect(await asking(server, '6/1/1')).toEqual([404, 0]);
		provider.reply(null);
		await server.advance(11 * MINUTE_MS);
		expect(await asking(server, '6/1/1')).toEqual([200, 1]);
	});

	it('that asks for a pause gets it', async () => {
		const server = await start();
		provider.reply({ status: 429, headers: { 'retry-after': '120' }, body: '' });
		expect(await asking(server, '6/2/2')).toEqual([503, 1]);
		provider.reply(null);
		await server.advance(100_000);
		expect(await asking(server, '6/3/3')).toEqual([503, 0]);
		await server.advance(21_000);
		expect(await asking(server, '6/3/3')).toEqual([200, 1]);
	});

	it('that answers with something else shows nothing of it', async () => {
		const server = await start();
		const hostile: [string, TileReply][] = [
			[
				'a redirect elsewhere',
				{ status: 302, headers: { location: 'http://127.0.0.1:1/0/0/0.png' }, body: '' }
			],
			['a page', { headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' }],
			['a page that says it is a picture', { body: '<svg xmlns="http://www.w3.org/2000/svg"/>' }],
			[
				'a picture of several megabytes',
				{ body: Buffer.concat([tilePicture(0, 0, 0), Buffer.alloc(2_000_000)]) }
			],
			['nothing', { body: '' }],
			[
				'a compressed body',
				{ headers: { 'content-encoding': 'gzip' }, body: Buffer.from([0x1f, 0x8b, 8, 0]) }
			],
			['headers without an end', { headers: { 'x-long': 'x'.repeat(20_000) } }],
			['an error', { status: 500, body: tilePicture(0, 0, 0) }]
		];
		for (const [x, [what, reply]] of hostile.entries()) {
			provider.reply(reply);
			const response = await tile(server, `7/${x}/1`);
			expect([what, response.status, (await response.arrayBuffer()).byteLength]).toEqual([what, 503, 0]);
			expect(provider.asked.at(-1)?.path, what).toBe(`/7/${x}/1.png?key=test`);
			// Past the pause that comes after several of them.
			await server.advance(MINUTE_MS);
		}
	});

	it('is asked once for a tile that many want, and for few tiles at once', async () => {
		const server = await start();
		const before = provider.asked.length;
		await Promise.all(Array.from({ length: 20 }, () => tile(server, '8/1/1')));
		expect(provider.asked.length - before).toBe(1);
		const many = await Promise.all(Array.from({ length: 40 }, (_all, x) => tile(server, `8/${x}/2`)));
		expect(many.map(({ status }) => status)).toEqual(many.map(() => 200));
		expect(provider.mostAtOnce).toBeLessThanOrEqual(4);
	});

	it('fills at most the room that it is given, and the least used tiles go first', async () => {
		const server = await start({ BASEMAP_CACHE_MB: '1' });
		// 60 KB each: seventeen fill the room.
		provider.reply((asked) => {
			const [z, x, y] = asked.slice(1).split(/[/.]/).map(Number);
			return { body: Buffer.concat([tilePicture(z ?? 0, x ?? 0, y ?? 0), Buffer.alloc(60_000)]) };
		});
		for (let x = 0; x < 15; x += 1) {
			expect(await asking(server, `9/${x}/0`)).toEqual([200, 1]);
			await server.advance(2 * MINUTE_MS);
			// The first one is used all the time.
			expect(await asking(server, '9/0/0')).toEqual([200, 0]);
		}
		for (let x = 15; x < 30; x += 1) {
			await asking(server, `9/${x}/0`);
			await server.advance(2 * MINUTE_MS);
			expect(await asking(server, '9/0/0')).toEqual([200, 0]);
		}
		const cache = path.join(server.dataDir, 'basemap');
		const sizes = readdirSync(cache, { recursive: true, withFileTypes: true })
			.filter((entry) => entry.isFile())
			.map((entry) => statSync(path.join(entry.parentPath, entry.name)).size);
		const total = sizes.reduce((sum, size) => sum + size, 0);
		expect(total).toBeLessThanOrEqual(1024 * 1024);
		expect(total).toBeGreaterThan(512 * 1024);
		expect(await asking(server, '9/29/0')).toEqual([200, 0]);
		expect(await asking(server, '9/1/0')).toEqual([200, 1]);
	});

	it('whose cache cannot be written still shows its tiles', async () => {
		const server = await start();
		writeFileSync(path.join(server.dataDir, 'basemap'), 'in the way');
		expect(await asking(server, '10/1/1')).toEqual([200, 1]);
		expect(await asking(server, '10/1/1')).toEqual([200, 1]);
	});

	it('on a private address is not asked unless that is allowed', async () => {
		// A public name that leads to this machine: nothing here may be reached by it.
		const template = `https://localhost:${new URL(provider.url).port}/{z}/{x}/{y}.png`;
		const server = await start({ BASEMAP: template, BASEMAP_ALLOW_PRIVATE: '0' });
		expect(await asking(server, '11/1/1')).toEqual([503, 0]);
	});
});
