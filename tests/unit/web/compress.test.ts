import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { compressPage } from '#lib/server/web/compress.ts';

describe('a page', () => {
	const page = `<p>${'UGX 500 an hour. '.repeat(100)}</p>`;
	const answer = (accepted: string | null, body = page, type = 'text/html') =>
		compressPage(
			new Request('http://localhost/', { headers: accepted === null ? {} : { 'accept-encoding': accepted } }),
			new Response(body, { status: 404, headers: { 'content-type': type, 'x-other': 'stays' } })
		);

	it.each([
		['gzip, deflate, br, zstd', 'br'],
		['gzip, deflate', 'gzip'],
		['GZIP;q=1.0, BR ; q=0.5', 'br'],
		['gzip, br;q=0', 'gzip'],
		['gzip;q=0.000, br; q=0.0', null],
		['brotli, xgzip', null],
		[null, null]
	])('for a browser that takes %j is packed as %j', async (accepted, coding) => {
		expect((await answer(accepted)).headers.get('content-encoding')).toBe(coding);
	});

	it.each([
		['br', 'br', brotliDecompressSync],
		['gzip', 'gzip', gunzipSync]
	])('asked for with %s arrives as it was, and says how it is packed', async (accepted, coding, unpack) => {
		const response = await answer(accepted);
		const bytes = Buffer.from(await response.arrayBuffer());
		expect(unpack(bytes).toString()).toBe(page);
		expect(bytes.length).toBeLessThan(page.length);
		expect(response.status).toBe(404);
		expect(Object.fromEntries(response.headers)).toEqual({
			'content-encoding': coding,
			'content-length': String(bytes.length),
			'content-type': 'text/html',
			vary: 'accept-encoding',
			'x-other': 'stays'
		});
	});

	it('is left as it is where nothing is gained or nothing is taken, and other types always are', async () => {
		for (const response of [
			await answer('br', 'short'),
			await answer('identity'),
			await answer('br', page, 'application/json')
		]) {
			expect(response.headers.has('content-encoding')).toBe(false);
		}
		expect(await (await answer('identity')).text()).toBe(page);
	});
});
