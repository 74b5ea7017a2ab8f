/** The way to a tile server: which addresses of its name are gone to. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTileServer } from '../../src/lib/server/map/tile-server.ts';
import type { Address } from '../../src/lib/server/platform/ssrf-lookup.ts';
import { startTileSimulator, type TileSimulator } from '../simulators/tiles.ts';

const TILE = { z: 1, x: 0, y: 1 };
const here: Address = { address: '127.0.0.1', family: 4 };
const elsewhere: Address = { address: '8.8.8.8', family: 4 };

let provider: TileSimulator;
beforeAll(async () => {
	provider = await startTileSimulator();
});
beforeEach(() => provider.reply(null));
afterAll(() => provider?.stop());

/** Asks by a name that means these addresses. */
async function ask(addresses: Address[], allowPrivate = false) {
	const template = `http://tiles.example:${new URL(provider.url).port}/{z}/{x}/{y}.png`;
	const server = createTileServer(template, {
		allowPrivate,
		contact: null,
		now: () => Date.now(),
		resolve: async () => addresses
	});
	const before = provider.asked.length;
	const outcome = await server.fetch(TILE, null);
	await server.stop();
	return { outcome, asked: provider.asked.length - before };
}

describe('a tile server whose name leads', () => {
	it('into our own network is not asked', async () => {
		const { outcome, asked } = await ask([here]);
		expect(outcome).toMatchObject({ kind: 'failure', reason: expect.stringContaining('not allowed') });
		expect(asked).toBe(0);
	});

	it('there with one of several addresses is not asked either', async () => {
		expect(await ask([elsewhere, here])).toMatchObject({ outcome: { kind: 'failure' }, asked: 0 });
	});

	it('nowhere is a failure like any other', async () => {
		expect((await ask([])).outcome).toMatchObject({
			kind: 'failure',
			reason: expect.stringContaining('no address')
		});
	});

	it('into our own network is asked where the operator allows that, under its own name', async () => {
		expect(await ask([here], true)).toMatchObject({
			outcome: { kind: 'image', type: 'image/png' },
			asked: 1
		});
		expect(provider.asked.at(-1)).toMatchObject({
			path: '/1/0/1.png',
			headers: { host: expect.stringMatching(/^tiles\.example:/), 'user-agent': 'Airtill/1.0 (Wi-Fi map)' }
		});
	});
});

describe('how long a tile lasts', () => {
	const DAY_MS = 24 * 60 * 60 * 1000;
	const inAWeek = (from: number) => new Date(from + 7 * DAY_MS).toUTCString();

	it.each([
		[{}, 7 * DAY_MS],
		[{ 'cache-control': 'public, max-age=100' }, 100_000],
		[{ 'cache-control': 'max-age=100, s-maxage=300' }, 300_000],
		[{ 'cache-control': 'max-age=100', age: '60' }, 40_000],
		[{ 'cache-control': 'max-age=100', age: '500' }, 0],
		[{ 'cache-control': 'no-cache' }, 0],
		[{ 'cache-control': 'no-store' }, null],
		[{ 'cache-control': 'private, max-age=100' }, null],
		[{ 'cache-control': 'max-age=99999999999' }, 365 * DAY_MS],
		[{ date: new Date(0).toUTCString(), expires: inAWeek(0) }, 7 * DAY_MS],
		[{ expires: '0' }, 0]
	])('%j', async (headers, freshMs) => {
		provider.reply({ headers });
		expect((await ask([here], true)).outcome).toMatchObject({ kind: 'image', freshMs });
	});
});
