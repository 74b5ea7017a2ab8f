/** Places of the map: the portal reads them from the public API, within a limit per visitor. */
import { describe, expect, it } from 'vitest';
import { areaOf } from '#lib/map/area.ts';
import { useFixture } from '../../support/server/fixture.ts';

const KAMPALA = { lat: 0.3476, lon: 32.5825 };
const AREA = areaOf(KAMPALA, { lat: 0.38, lon: 32.61 });
/** Searches of an address in a minute. */
const LISTS = 1_200;
const query = (more: Record<string, string | number> = {}) =>
	String(
		new URLSearchParams(Object.entries({ ...AREA, ...more }).map(([name, value]) => [name, String(value)]))
	);

interface Page {
	routers: [id: number, name: string, lat: number, lon: number, price: string, online: number][];
	next: string | null;
}

describe('routers for the map', () => {
	const fixture = useFixture({ env: { ADDRESS_HEADER: 'x-client-address' } });
	const ask = (search: string, headers: Record<string, string> = {}) =>
		fetch(`${fixture().server.url}/map-routers?${search}`, { headers });

	it('are those of an area, nearest first, as short as can be', async () => {
		const response = await ask(query());
		expect(response.status).toBe(200);
		expect(response.headers.get('cache-control')).toBe('no-store');
		expect(response.headers.get('content-encoding')).toBe('gzip');
		const { routers, next } = (await response.json()) as Page;
		expect(next).toBeNull();
		expect(routers.length).toBeGreaterThan(10);
		expect(routers.find(([, name]) => name === 'Kamwokya Barber & Net')).toEqual([
			expect.any(Number),
			'Kamwokya Barber & Net',
			expect.any(Number),
			expect.any(Number),
			expect.stringMatching(/^UGX\s250 an hour$/),
			1,
			'250',
			'Kira Road, Kamwokya'
		]);
	});

	it.each([
		['no area', ''],
		['a circle of its own', query({ lat: 0.347 })],
		['no numbers', query({ lat: 'x' })],
		['a cursor that is none', query({ cursor: 'nonsense' })]
	])('are refused for %s', async (_what, search) => {
		expect((await ask(search)).status).toBe(400);
	});

	it('and lists stop for an address that searches too much; other addresses and purchases go on', async () => {
		const { url } = fixture().server;
		const from = (address: string) => ({ headers: { 'x-client-address': address } });
		const answers: Response[] = [];
		for (let at = 0; at < LISTS + 1; at += 1) {
			const centre = { lat: 10 + (at % 50), lon: 20 + Math.floor(at / 50) };
			const area = areaOf(centre, { lat: centre.lat + 0.01, lon: centre.lon });
			answers.push(await ask(query({ ...area }), from('192.0.2.1').headers));
		}
		expect(answers.filter(({ status }) => status === 200)).toHaveLength(LISTS);
		expect(answers.at(-1)?.status).toBe(503);
		expect(Number(answers.at(-1)?.headers.get('retry-after'))).toBeGreaterThan(0);
		expect((await fetch(`${url}/?place=nowhere`, from('192.0.2.1'))).status).toBe(503);
		for (const path of ['/', '/?place=nowhere']) {
			expect((await fetch(url + path, from('192.0.2.2'))).status).toBe(200);
		}
		for (let at = 0; at < 20; at += 1) {
			for (const path of ['/r/3', '/kiosk/3']) {
				expect((await fetch(url + path, from('192.0.2.1'))).status).toBe(200);
			}
		}
	});
});
