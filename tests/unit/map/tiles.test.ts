/** Tiles of a tile server: the addresses that may be contacted, and the HTTP cache over time. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTiles, type Tiles } from '#lib/server/map/tiles.ts';
import { createLog } from '#lib/server/platform/log.ts';
import type { Address } from '#lib/server/platform/ssrf/ssrf-lookup.ts';
import { startTileSimulator, tilePicture, type TileSimulator } from '../../simulators/tiles.ts';

const TILE = { z: 1, x: 0, y: 1 };
const DAY_MS = 24 * 60 * 60 * 1000;
const LOCAL: Address = { address: '127.0.0.1', family: 4 };
const PUBLIC: Address = { address: '8.8.8.8', family: 4 };

let provider: TileSimulator;
let tiles: Tiles | null = null;
beforeAll(async () => {
	provider = await startTileSimulator();
});
beforeEach(() => provider.reply(null));
afterEach(async () => {
	vi.useRealTimers();
	await tiles?.stop();
});
afterAll(() => provider?.stop());

function open(addresses: Address[], { allowPrivate = false, cacheBytes = 1024 * 1024 } = {}): Tiles {
	tiles = createTiles(`http://tiles.example:${new URL(provider.url).port}/{z}/{x}/{y}.png`, {
		allowPrivate,
		cacheBytes,
		contact: null,
		clock: { now: () => Date.now() },
		log: createLog('silent'),
		resolve: async () => addresses
	});
	return tiles;
}

/** Reads tiles one after the other; returns how many requests reached the provider. */
async function requests(from: Tiles, ...columns: number[]): Promise<number> {
	const before = provider.asked.length;
	for (const x of columns) await from.read({ z: 9, x, y: 0 });
	return provider.asked.length - before;
}

describe('a tile server whose name resolves', () => {
	it.each([
		['to a private address', [LOCAL]],
		['to a public and a private address', [PUBLIC, LOCAL]],
		['to nothing', []]
	])('%s is not contacted', async (_, addresses) => {
		const before = provider.asked.length;
		expect(await open(addresses).read(TILE)).toMatchObject({ kind: 'unavailable' });
		expect(provider.asked.length).toBe(before);
	});

	it('to a private address is contacted under its own name if that is allowed', async () => {
		expect(await open([LOCAL], { allowPrivate: true }).read(TILE)).toMatchObject({ kind: 'image' });
		expect(provider.asked.at(-1)).toMatchObject({
			path: '/1/0/1.png',
			headers: { host: expect.stringMatching(/^tiles\.example:/), 'user-agent': 'Airtill/1.0 (Wi-Fi map)' }
		});
	});
});

describe('the tile cache', () => {
	const cached = (options = {}) => {
		vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
		return open([LOCAL], { allowPrivate: true, ...options });
	};
	const wait = (milliseconds: number) => vi.setSystemTime(Date.now() + milliseconds);

	it('keeps a tile for as long as the provider says, then asks with its ETag', async () => {
		const opened = cached();
		provider.reply({ headers: { 'cache-control': 'max-age=600', etag: '"v1"' } });
		expect(await requests(opened, 1, 1)).toBe(1);
		wait(550_000);
		expect(await requests(opened, 1)).toBe(0);
		wait(100_000);
		provider.reply({ status: 304, headers: { 'cache-control': 'max-age=600', etag: '"v1"' } });
		expect(await requests(opened, 1)).toBe(1);
		expect(provider.asked.at(-1)?.headers['if-none-match']).toBe('"v1"');
	});

	it('keeps a tile for a week if the provider says nothing', async () => {
		const opened = cached();
		await requests(opened, 1);
		wait(6.9 * DAY_MS);
		expect(await requests(opened, 1)).toBe(0);
		wait(0.2 * DAY_MS);
		expect(await requests(opened, 1)).toBe(1);
	});

	it.each(['drop', { status: 503 }] as const)(
		'shows a stale tile while the provider fails: %j',
		async (failure) => {
			const opened = cached();
			await requests(opened, 1);
			wait(8 * DAY_MS);
			provider.reply(failure);
			expect(await opened.read({ z: 9, x: 1, y: 0 })).toMatchObject({ kind: 'image' });
		}
	);

	it('keeps no page that came instead of a picture', async () => {
		const opened = cached();
		provider.reply({ headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' });
		expect(await opened.read(TILE)).toMatchObject({ kind: 'unavailable' });
		provider.reply(null);
		expect(await opened.read(TILE)).toMatchObject({ kind: 'image' });
	});

	it('stays within its limit and drops the least recently used tiles first', async () => {
		const opened = cached({ cacheBytes: 600_000 });
		const large = Buffer.concat([await tilePicture(0, 0, 0), Buffer.alloc(60_000)]);
		provider.reply({ body: large });
		for (let x = 0; x < 12; x += 1) await requests(opened, x, 0);
		expect(await requests(opened, 0, 11)).toBe(0);
		expect(await requests(opened, 1)).toBe(1);
	});
});
