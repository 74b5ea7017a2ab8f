/**
 * The nearby search against brute force: random routers in places where a search by boxes goes wrong first
 * (antimeridian, poles, equator, many at one spot), every page of it, on both databases.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { sequence } from '../../../support/random.ts';
import { BOTH_DATABASES, useFixture } from '../../../support/server/fixture.ts';

interface Place {
	id: number;
	lat: number;
	lon: number;
}

const earthRadiusMetres = 6_371_008.8;
const perSpot = 220;
/** Metres that are the arithmetic's, not the map's: no order among places that differ by less. */
const noise = 1e-6;

/** [name, latitude, longitude, spread in degrees of latitude, of longitude] */
const SPOTS = [
	['Kampala', 0.35, 32.58, 0.3, 0.3],
	['the antimeridian', -17, 180, 0.3, 0.3],
	['the North Pole', 89.9, 0, 0.3, 180],
	['the South Pole', -89.95, 40, 0.3, 180],
	['far north', 78.2, 15.6, 0.3, 1.5],
	['the equator and prime meridian', 0, 0, 0.2, 0.2]
] as const;

/** [latitude, longitude, radius in metres] */
const SEARCHES = [
	[0.35, 32.58, 5_000],
	[0.3476, 32.5825, 50_000],
	[0, 0, 1],
	[0, 0, 20_000],
	[-17, 180, 30_000],
	[-17, -180, 30_000],
	[-17.1, 179.99, 12_345.678],
	[-16.9, -179.95, 50_000],
	[90, 0, 50_000],
	[89.99, -170, 20_000],
	[-90, 123, 50_000],
	[-89.9, -60, 15_000],
	[78.2, 15.6, 50_000],
	[45, 90, 50_000]
] as const;

function randomPlaces(): Omit<Place, 'id'>[] {
	const random = sequence(20_261_121);
	const spread = (centre: number, width: number) => centre + (2 * random() - 1) * width;
	const wrapped = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon);
	const places = SPOTS.flatMap(([, lat, lon, latWidth, lonWidth]) =>
		Array.from({ length: perSpot }, () => ({
			lat: Math.max(-90, Math.min(90, spread(lat, latWidth))),
			lon: wrapped(spread(lon, lonWidth))
		}))
	);
	// Thirty at one spot, and the corners of the map: equal distances are ordered by id.
	const same = Array.from({ length: 30 }, () => ({ lat: 0.0001, lon: 0.0001 }));
	const corners = [-90, 90].flatMap((lat) => [-180, 0, 180].map((lon) => ({ lat, lon })));
	return [...places, ...same, ...corners, { lat: -17, lon: 180 }, { lat: -17, lon: -180 }];
}

/** Haversine, written down a second time. */
function metres(a: Omit<Place, 'id'>, b: Omit<Place, 'id'>): number {
	const rad = Math.PI / 180;
	const haversine = (angle: number) => Math.sin(angle / 2) ** 2;
	const h =
		haversine((b.lat - a.lat) * rad) +
		Math.cos(a.lat * rad) * Math.cos(b.lat * rad) * haversine((b.lon - a.lon) * rad);
	return 2 * earthRadiusMetres * Math.asin(Math.min(1, Math.sqrt(h)));
}

describe.each(BOTH_DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let places: Place[];

	beforeAll(async () => {
		const { sql } = fixture();
		const rows = randomPlaces().map(
			({ lat, lon }) => `(1, 'r', 'r', 'wpa', ${lat}, ${lon}, 500, 'UGX', 'online', '[]', '15m', '30d', 0, 0)`
		);
		await sql.run(`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency,
			status, payment_methods, min_duration, max_duration, created_at, updated_at) values ${rows.join(', ')}`);
		const stored = await sql.all('select id, lat, lon from routers');
		places = stored.map(({ id, lat, lon }) => ({ id: Number(id), lat: Number(lat), lon: Number(lon) }));
	});

	/** All pages of a search, and the ids that brute force finds, nearest first, then by id. */
	async function search(lat: number, lon: number, radius: number, limit: number) {
		const found: { id: number; distance: number | null }[] = [];
		let query: string | null = `lat=${lat}&lon=${lon}&radius=${radius}&limit=${limit}`;
		let pages = 0;
		while (query !== null) {
			const page = await fixture().api.listRouters(query);
			found.push(...page.data.map(({ id, distance }) => ({ id, distance })));
			expect(page.data.length === limit || !page.has_more).toBe(true);
			expect(page.next_cursor !== null).toBe(page.has_more);
			query =
				page.next_cursor &&
				`lat=${lat}&lon=${lon}&radius=${radius}&limit=${limit}&cursor=${page.next_cursor}`;
			pages += 1;
		}
		const expected = places
			.map((place) => ({ ...place, exact: metres({ lat, lon }, place) }))
			.filter(({ exact }) => exact <= radius)
			.sort((a, b) => a.exact - b.exact || a.id - b.id);
		return { found, expected, pages };
	}

	it.each(SEARCHES)(
		'finds around %d, %d within %d m what brute force finds, nearest first',
		async (...place) => {
			const { found, expected } = await search(...place, 100);
			const byId = new Map(expected.map((place) => [place.id, place]));
			expect(found.map(({ id }) => id).sort()).toEqual([...byId.keys()].sort());
			for (const [index, { id, distance }] of found.entries()) {
				const here = byId.get(id);
				if (!here) throw new Error(`Brute force does not know ${id}`);
				expect(Math.abs((distance ?? NaN) - here.exact)).toBeLessThan(0.5 + noise);
				const before = byId.get(found[index - 1]?.id ?? 0);
				if (!before) continue;
				expect(before.exact).toBeLessThan(here.exact + noise);
				if (before.lat === here.lat && before.lon === here.lon) expect(before.id).toBeLessThan(id);
			}
		}
	);

	it('has places to find in these searches', () => {
		const counts = SEARCHES.map(
			([lat, lon, radius]) => places.filter((place) => metres({ lat, lon }, place) <= radius).length
		);
		expect(counts.filter((count) => count > 20).length).toBeGreaterThan(8);
	});

	it.each([1, 7, 29, 100])('joins pages of %i to the same list, equal distances included', async (limit) => {
		const { found, expected, pages } = await search(0, 0, 12_000, limit);
		expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
		expect(pages).toBe(Math.ceil(expected.length / limit));
		expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
	});

	describe('400 invalid_cursor', () => {
		const query = 'lat=0&lon=0&radius=12000&limit=5';

		async function cursor(): Promise<string> {
			return (await fixture().api.listRouters(query)).next_cursor ?? '';
		}

		const refused = (of: string, text: string) =>
			fixture().api.refused(
				'400 invalid_cursor',
				'GET',
				`/v1/routers?${of}&cursor=${encodeURIComponent(text)}`
			);

		it('for one that was made for another place or radius', async () => {
			for (const of of [
				'lat=0.1&lon=0&radius=12000',
				'lat=0&lon=0.1&radius=12000',
				'lat=0&lon=0&radius=12001'
			]) {
				await refused(of, await cursor());
			}
		});

		it('but not for another page size', async () => {
			const next = await fixture().api.listRouters(
				`lat=0&lon=0&radius=12000&limit=9&cursor=${await cursor()}`
			);
			expect(next.data).toHaveLength(9);
		});

		it('for one whose place in the list was changed', async () => {
			const good = await cursor();
			const content = Buffer.from(good, 'base64url').toString();
			const [number = ''] = /\d+\.\d+/.exec(content) ?? [];
			for (const other of ['0', '1e308', '-1', '0.5', '"1"', 'null']) {
				await refused(query, Buffer.from(content.replace(number, other)).toString('base64url'));
			}
			for (const id of ['1.5', '1e30', '9007199254740993', '-1', '0']) {
				const forged = content.replace(/,\s*\d+\s*\]/, `,${id}]`);
				expect(forged).not.toBe(content);
				await refused(query, Buffer.from(forged).toString('base64url'));
			}
		});
	});

	it('passes over routers that are disabled, however many lie nearer', async () => {
		await fixture().sql.run('update routers set disabled_at = 1 where lat = 0.0001');
		places = places.filter(({ lat }) => lat !== 0.0001);
		for (const limit of [1, 7]) {
			const { found, expected } = await search(0, 0, 12_000, limit);
			expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
		}
	});
});
