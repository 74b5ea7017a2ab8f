/** `basemap extract`: the streets of a city out of a larger archive on the web. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PMTiles, type Source } from 'pmtiles';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { realBasemap } from '../../support/pages/basemap.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

const file = realBasemap();
/** A part of the real extract. */
const CORNERS = '115.78,-31.95,115.81,-31.92';

describe.skipIf(file === null)('of a real archive', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-extract-'));
	const archive = file === null ? Buffer.alloc(0) : readFileSync(file);
	/** Requests of bytes, each `[first, last]`. */
	const ranges: [number, number][] = [];
	/** Answers to this many requests; the next ones break off. */
	let answers = Infinity;
	const source = createServer((request, response) => {
		const [, first = '0', last = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
		if ((answers -= 1) < 0) return request.socket.destroy();
		const [from, to] = [Number(first), Math.min(Number(last), archive.length - 1)];
		ranges.push([from, to]);
		const range = `bytes ${from}-${to}/${archive.length}`;
		response.writeHead(206, { 'content-range': range, etag: '"one"' }).end(archive.subarray(from, to + 1));
		return undefined;
	});
	let from: string;
	let server: TestServer;

	beforeAll(async () => {
		await new Promise<void>((resolve) => source.listen(0, '127.0.0.1', resolve));
		from = `http://127.0.0.1:${(source.address() as AddressInfo).port}/planet.pmtiles`;
		server = await startServer();
	});
	afterAll(async () => {
		await server?.stop();
		source.closeAllConnections();
		source.close();
		rmSync(folder, { recursive: true, force: true });
	});

	const read = (bytes: Buffer) => {
		const memory: Source = {
			getKey: () => 'memory',
			getBytes: async (offset, length) => ({
				data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer
			})
		};
		return new PMTiles(memory);
	};
	const extract = (corners: string, ...options: string[]) =>
		cli(['basemap', 'extract', corners, '--from', from, ...options], server);

	it('the map of a running installation shows it at once, each tile as in the source', async () => {
		expect(await (await fetch(`${server.url}/basemap`)).json()).toEqual({ kind: 'none' });
		expect((await extract(CORNERS)).code).toBe(0);
		const bounds = [-31.95, 115.78, -31.92, 115.81];
		expect(await (await fetch(`${server.url}/basemap`)).json()).toMatchObject({ kind: 'pmtiles', bounds });

		const [part, whole] = [read(readFileSync(path.join(server.dataDir, 'basemap.pmtiles'))), read(archive)];
		const column = (lon: number) => Math.floor(((lon + 180) / 360) * 2 ** 15);
		const row = (lat: number) =>
			Math.floor(((1 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / Math.PI) / 2) * 2 ** 15);
		for (let x = column(115.78); x <= column(115.81); x += 1) {
			for (let y = row(-31.92); y <= row(-31.95); y += 1) {
				const [tile, original] = [await part.getZxy(15, x, y), await whole.getZxy(15, x, y)];
				expect(original?.data.byteLength).toBeGreaterThan(100);
				expect([x, y, tile?.data]).toEqual([x, y, original?.data]);
			}
		}
		expect(await whole.getZxy(15, column(115.82), row(-31.93))).toBeDefined();
		expect(await part.getZxy(15, column(115.82), row(-31.93))).toBeUndefined();
		expect(await part.getMetadata()).toEqual(await whole.getMetadata());
	});

	it('after a broken connection the same command continues, and ends with the same file', async () => {
		const [once, twice] = ['once.pmtiles', 'twice.pmtiles'].map((name) => path.join(folder, name));
		ranges.length = 0;
		expect((await extract(CORNERS, '--to', String(once))).code).toBe(0);
		const needed = ranges.length;
		expect(needed).toBeGreaterThan(4);

		answers = needed - 2;
		const broken = await extract(CORNERS, '--to', String(twice));
		answers = Infinity;
		expect([broken.code, broken.stderr]).toEqual([1, expect.stringContaining('The same command continues')]);
		ranges.length = 0;
		expect((await extract(CORNERS, '--to', String(twice))).code).toBe(0);
		expect(ranges.length).toBeLessThan(needed);
		expect(readFileSync(String(twice)).equals(readFileSync(String(once)))).toBe(true);
	});

	it.each([
		['115.81,-31.92,115.78,-31.95', 2, 'south-west and the north-east corner'],
		['-74.1,40.6,-73.8,40.9', 1, 'does not cover this area']
	])('%s is refused with the reason', async (corners, code, reason) => {
		const refused = await extract(corners, '--to', path.join(folder, 'no.pmtiles'));
		expect([refused.code, refused.stderr]).toEqual([code, expect.stringContaining(reason)]);
	});
});
