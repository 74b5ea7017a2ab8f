/** Tiles of a tile server through GET /basemap/{z}/{x}/{y}.png. Caching over time: tests/unit/map/tiles.test.ts. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
	startTileSimulator,
	tilePicture,
	type TileReply,
	type TileSimulator
} from '../../simulators/tiles.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const MINUTE_MS = 60_000;

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

	it('sends its tile to the page, answers the second request from the cache, and sees who asks', async () => {
		const server = await start({ ORIGIN: 'https://wifi.example' });
		expect(await (await fetch(`${server.url}/basemap`)).json()).toEqual({
			kind: 'tiles',
			attribution: '© Tile Makers',
			maxZoom: 19
		});
		const first = await tile(server, '3/4/5');
		expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/png']);
		expect(first.headers.get('cache-control')).toBe('public, max-age=86400');
		expect(Buffer.from(await first.arrayBuffer()).equals(await tilePicture(3, 4, 5))).toBe(true);
		expect(provider.asked.at(-1)).toMatchObject({
			path: '/3/4/5.png?key=test',
			headers: { 'user-agent': 'Airtill/1.0 (Wi-Fi map; https://wifi.example)' }
		});
		expect(provider.asked.at(-1)?.headers.cookie).toBeUndefined();
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

	it('decides how long a browser may keep its tiles', async () => {
		const server = await start();
		provider.reply({ headers: { 'cache-control': 'public, max-age=600' } });
		expect((await tile(server, '4/1/1')).headers.get('cache-control')).toBe('public, max-age=600');
		provider.reply({ headers: { 'cache-control': 'no-store' } });
		expect((await tile(server, '4/2/2')).headers.get('cache-control')).toBe('no-store');
		expect(await asking(server, '4/2/2')).toEqual([200, 1]);
	});

	it('that fails three times in a row is left alone for 30 seconds; cached tiles are still shown', async () => {
		const server = await start();
		expect(await asking(server, '5/1/1')).toEqual([200, 1]);
		provider.reply('drop');
		const unknown = await tile(server, '5/9/9');
		expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '30']);
		await asking(server, '5/9/8');
		await asking(server, '5/9/7');
		expect(await asking(server, '5/9/6')).toEqual([503, 0]);
		expect(await asking(server, '5/1/1')).toEqual([200, 0]);
		provider.reply(null);
		await server.advance(31_000);
		expect(await asking(server, '5/9/6')).toEqual([200, 1]);
	});

	it('that has no such tile is not asked for it again', async () => {
		const server = await start();
		provider.reply({ status: 404, body: 'nothing' });
		expect(await asking(server, '6/1/1')).toEqual([404, 1]);
		expect(await asking(server, '6/1/1')).toEqual([404, 0]);
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
				{ body: Buffer.concat([await tilePicture(0, 0, 0), Buffer.alloc(2_000_000)]) }
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
});
