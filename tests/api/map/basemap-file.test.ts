/** The file of the map as browsers get it: whole, by ranges, once. */
import {
	existsSync,
	mkdtempSync,
	readdirSync,
	readlinkSync,
	rmSync,
	utimesSync,
	writeFileSync
} from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeArchive } from '../../support/pages/basemap.ts';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

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
			etag: expect.stringMatching(/^"[\w-]+"$/)
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
		['bytes=127-16383', 127, 16_383],
		['bytes=100-', 100, size - 1],
		[`bytes=${size - 1}-${size + 100}`, size - 1, size - 1]
	])('%s brings just these bytes', async (range, start, end) => {
		const response = await ask({ range });
		expect(response.status).toBe(206);
		expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${size}`);
		expect(response.headers.get('content-length')).toBe(String(end - start + 1));
		expect((await bytes(response)).equals(content.subarray(start, end + 1))).toBe(true);
	});

	it('a range beyond its end is refused', async () => {
		const response = await ask({ range: `bytes=${size}-` });
		expect([response.status, response.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
		expect((await bytes(response)).length).toBe(0);
	});

	it.each(['bytes=5-1', 'bytes=0-1,5-6', 'items=0-5', 'bytes=-10', 'bytes=0x1-5'])(
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
		expect((await ask({ 'if-none-match': etag })).status).toBe(304);
		expect((await ask({ 'if-none-match': `"x", W/${etag}` })).status).toBe(304);
		expect((await ask({ 'if-none-match': '"x"', range: 'bytes=0-1' })).status).toBe(206);
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
		...['/basemap/..%2f..%2fetc%2fpasswd', '/basemap/tiles.pmtiles/../../../../etc/passwd'],
		'/basemap/city.pmtiles'
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

	/** False if the descriptor has been closed meanwhile. */
	const leadsToFile = (descriptor: string) => {
		try {
			return readlinkSync(descriptor) === file;
		} catch {
			return false;
		}
	};

	it.runIf(existsSync('/proc/self/fd'))(
		'many of whose ranges are asked for at once and left half read leaves none open',
		async () => {
			const descriptors = `/proc/${server.pid}/fd`;
			const open = () =>
				readdirSync(descriptors).filter((name) => leadsToFile(`${descriptors}/${name}`)).length;
			const before = open();
			await Promise.all(
				Array.from({ length: 30 }, async () => {
					const stop = new AbortController();
					const response = await fetch(address, { signal: stop.signal });
					await response.body?.getReader().read();
					stop.abort();
				})
			);
			await expect.poll(open, { timeout: 10_000 }).toBe(before);
		}
	);
});

describe('a file that is no map', () => {
	it('is said by doctor, which praises a good one and warns where it shows another city', async () => {
		const file = path.join(folder, 'doctor.pmtiles');
		writeFileSync(file, makeArchive(1000, { version: 2 }));
		const { code, stdout } = await doctor(file);
		expect(stdout).toMatch(/^FAIL map: .* version 2, .* - make it again with "basemap extract"/m);
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
