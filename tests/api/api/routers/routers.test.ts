/** GET /routers and GET /routers/{id}: one case per status, and what a router says of itself. */
import { describe, expect, it } from 'vitest';
import { DATABASES, useFixture, type Fixture } from '../../../support/server/fixture.ts';

/** The third of the demo routers. */
const KISEMENTI = {
	id: 3,
	name: 'Kisementi Corner',
	address: 'Cooper Road, Kisementi',
	ssid: 'KISEMENTI-WIFI',
	hidden: false,
	lat: 0.3377,
	lon: 32.5878,
	distance: null,
	price: 500,
	currency: 'UGX',
	status: 'online',
	status_reason: null,
	payment_methods: ['mobile_money', 'mtn_momo', 'airtel_money', 'sandbox'],
	payment_limits: [],
	min_duration: '15m',
	max_duration: '30d',
	security: 'wpa',
	access_kind: 'wpa_personal_per_client',
	network_password_provided: true,
	brand: null,
	hourly: true,
	max_devices: 1,
	offers: []
};

const near = 'lat=0.3377&lon=32.5878';

const at = (latitudes: string) => latitudes.split(' ').map((lat) => `lat=${lat}&lon=32`);
const nearWith = (...more: string[]) => more.map((query) => `${near}&${query}`);
const BAD_LATITUDES = ' abc 0x1 +1 %201 .5 1. NaN 0000001 - %2B1 1e 1,5 %D9%A1 Infinity 1%0A';

/** [name of the wrong parameter, code of the item, queries] */
const BAD_QUERIES: readonly [string, string, string[]][] = [
	['lat', 'required', ['', 'lon=32.5']],
	['lon', 'required', ['lat=0.3']],
	['lat', 'invalid_format', [...at(BAD_LATITUDES), ...at(`0.${'3'.repeat(63)}`)]],
	['lat', 'out_of_range', at('1e400 -1e400 9.1e%2B1 90.000001 -91')],
	['lon', 'out_of_range', ['lat=0&lon=180.5', 'lat=0&lon=-181']],
	[
		'radius',
		'out_of_range',
		nearWith('radius=1e-400', 'radius=-0', 'radius=0', 'radius=-5', 'radius=50000.1')
	],
	['radius', 'invalid_format', nearWith('radius=', 'radius=1km')],
	['limit', 'out_of_range', nearWith('limit=1e400', 'limit=0', 'limit=-1', 'limit=101')],
	['limit', 'invalid_format', nearWith('limit=5e-1', 'limit=020', 'limit=1.5')],
	['name', 'invalid_format', nearWith('name=', 'name=%20-', `name=${'a'.repeat(101)}`)],
	['lat', 'duplicate', nearWith('lat=0')],
	['radius', 'duplicate', nearWith('radius=5&radius=5')],
	['cursor', 'duplicate', nearWith('cursor=a&cursor=b')]
];

/** Adds a copy of the third router that differs in what is given. */
async function addRouter(
	{ sql }: Fixture,
	different: Record<string, string | number | null>
): Promise<number> {
	const [row] = await sql.all('select * from routers where id = 3');
	const columns = { ...row, external_id: null, ...different };
	const copy = Object.fromEntries(Object.entries(columns).filter(([name]) => name !== 'id'));
	const names = Object.keys(copy);
	return sql.count(
		`insert into routers (${names.join(', ')}) values (${names.map(() => '?').join(', ')}) returning id`,
		...(Object.values(copy) as (string | number | null)[])
	);
}

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });

	describe('GET /routers', () => {
		it('200 with exactly the documented object, the distance in whole metres', async () => {
			const { data, ...rest } = await fixture().api.listRouters('lat=0.338&lon=32.588&radius=60');
			expect(data).toEqual([
				{ ...KISEMENTI, distance: 40, created_at: expect.any(String), updated_at: expect.any(String) }
			]);
			expect(rest).toEqual({ has_more: false, next_cursor: null, radius: 60, radius_unit: 'm' });
		});

		it('searches 1000 metres around when no radius is given', async () => {
			const { api } = fixture();
			const { radius, data } = await api.listRouters(near);
			expect(radius).toBe(1000);
			expect(data).toEqual((await api.listRouters(`${near}&radius=1000`)).data);
			expect(data.every(({ distance }) => distance !== null && distance <= 1000)).toBe(true);
			expect(data.length).toBeGreaterThan(1);
		});

		it('lists twenty when no limit is given', async () => {
			const { data, has_more } = await fixture().api.listRouters(`${near}&radius=50000`);
			expect({ count: data.length, has_more }).toEqual({ count: 20, has_more: true });
		});

		it('lists only routers of a name, page by page', async () => {
			const { api } = fixture();
			const query = `${near}&radius=50000&name=HILL%20ro&limit=1`;
			const [first, all] = [await api.listRouters(query), await api.listRouters(`${query}00`)];
			expect(all.data.length).toBeGreaterThan(1);
			for (const { name, address, ssid } of all.data) {
				for (const start of [/\bhill/i, /\bro/i]) expect(`${name} ${address} ${ssid}`).toMatch(start);
			}
			const second = await api.listRouters(`${query}&cursor=${first.next_cursor}`);
			expect([...first.data, ...second.data]).toEqual(all.data.slice(0, 2));
			await api.refused(
				'400 invalid_cursor',
				'GET',
				`/v1/routers?${near}&radius=50000&cursor=${first.next_cursor}`
			);
		});

		it('is empty where nothing is near', async () => {
			const list = await fixture().api.listRouters('lat=-60&lon=0');
			expect(list).toMatchObject({ data: [], has_more: false, next_cursor: null });
		});

		it('includes a router at distance nought, however small the radius', async () => {
			const { data } = await fixture().api.listRouters(`${near}&radius=0.000000000001`);
			expect(data).toMatchObject([{ id: 3, distance: 0 }]);
		});

		it('includes offline routers and never disabled ones, their owner being no exception', async () => {
			const offline = await addRouter(fixture(), { lat: 10, lon: 10, status: 'offline' });
			await addRouter(fixture(), { lat: 10, lon: 10, disabled_at: 1 });
			for (const caller of [fixture().api, fixture().owner, fixture().admin]) {
				const { data } = await caller.listRouters('lat=10&lon=10');
				expect(data).toMatchObject([{ id: offline, status: 'offline' }]);
			}
		});

		it('finds a router where it has moved to, and not where it was', async () => {
			const id = await addRouter(fixture(), { lat: 20, lon: 20 });
			await fixture().sql.run('update routers set lat = 21, lon = 21 where id = ?', id);
			expect((await fixture().api.listRouters('lat=20&lon=20&radius=50000')).data).toEqual([]);
			expect((await fixture().api.listRouters('lat=21&lon=21')).data).toMatchObject([{ id, distance: 0 }]);
		});

		it('ignores unknown parameters', async () => {
			const { data } = await fixture().api.listRouters(`${near}&radius=1&unknown=1&unknown=2&sort=price`);
			expect(data).toMatchObject([{ id: 3 }]);
		});

		it.each([
			['lat=0.33770000000001096', 'lon=32.587800000000001', 'radius=1000'],
			['lat=3.377E-1', 'lon=3.25878e%2B1', 'radius=1E3'],
			['lat=3.377e-01', 'lon=3.25878e+01', 'radius=1.0E%2B03'],
			[`lat=0.3377${'0'.repeat(58)}`, 'lon=325878e-4', 'radius=10000.0e-1']
		])('takes every number of JSON: ?%s&%s&%s', async (lat, lon, radius) => {
			const list = await fixture().api.listRouters([lat, lon, radius, 'limit=1e1'].join('&'));
			const plain = await fixture().api.listRouters('lat=0.3377&lon=32.5878&radius=1000&limit=10');
			expect(list.data.map(({ id, distance }) => [id, distance])).toEqual(
				plain.data.map(({ id, distance }) => [id, distance])
			);
			expect(list.data.length).toBeGreaterThan(0);
			expect(list.radius).toBe(1000);
		});

		it('takes the smallest and the largest numbers of the range, and -0', async () => {
			expect((await fixture().api.listRouters(`${near}&radius=5e-7`)).radius).toBe(5e-7);
			expect((await fixture().api.listRouters('lat=-0&lon=-0.0&radius=5e4')).radius).toBe(50_000);
			for (const query of ['lat=-9e1&lon=180', 'lat=90.0&lon=-1.8E2']) {
				await fixture().api.listRouters(query);
			}
		});

		it.each(BAD_QUERIES)('400 validation_failed: %s %s for each of %j', async (name, code, queries) => {
			for (const query of queries) {
				const path = `/v1/routers?${query}`;
				const { errors } = await fixture().api.refused('400 validation_failed', 'GET', path);
				const items = errors?.filter(({ pointer }) => pointer === `/${name}`);
				expect(items, query).toEqual([expect.objectContaining({ in: 'query', code })]);
			}
		});

		it('names every wrong parameter at once', async () => {
			const path = '/v1/routers?lat=100&lon=x&radius=0&limit=0';
			const { errors, detail } = await fixture().api.refused('400 validation_failed', 'GET', path);
			expect(errors?.map(({ pointer }) => pointer)).toEqual(['/lat', '/lon', '/radius', '/limit']);
			expect(detail).toBe('4 fields are invalid.');
		});
	});

	describe('GET /routers/{id}', () => {
		it('200 with the same object and no distance', async () => {
			const router = await fixture().api.getRouter(3);
			expect(router).toEqual({ ...KISEMENTI, created_at: router.created_at, updated_at: router.updated_at });
		});

		it('404 router_not_found for numbers of none', async () => {
			for (const id of '0 -1 999999 9007199254740993 99999999999999999999999 -0'.split(' '))
				await fixture().api.refused('404 router_not_found', 'GET', `/v1/routers/${id}`);
		});

		it('400 validation_failed for what is no number', async () => {
			for (const id of 'abc 1.0 1e3 0x1 +1 %201 1%00 null ١ --1'.split(' ')) {
				const problem = await fixture().api.refused('400 validation_failed', 'GET', `/v1/routers/${id}`);
				expect(problem.errors, id).toMatchObject([{ in: 'path', pointer: '/id', code: 'invalid_format' }]);
			}
		});

		it('404 for a disabled router, which its owner still sees', async () => {
			const id = await addRouter(fixture(), { disabled_at: 1 });
			await fixture().api.refused('404 router_not_found', 'GET', `/v1/routers/${id}`);
			expect(await fixture().owner.getRouter(id)).toMatchObject({ id });
		});
	});
});
