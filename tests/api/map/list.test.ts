/** The list of routers, as a browser without script reads it. */
import { describe, expect, it } from 'vitest';
import { areaOf } from '#lib/map/area.ts';
import { browse, demoPassword, type Page } from '../../support/pages/browsing.ts';
import { useFixture } from '../../support/server/fixture.ts';

const KISEMENTI = { lat: 0.3377, lon: 32.5878 };

const idsOf = ({ html }: Page) => [...html.matchAll(/<li id="router-(\d+)"/g)].map(([, id]) => Number(id));
const linkOf = ({ html }: Page, label: string) =>
	new RegExp(`<a[^>]* href="([^"]*)"[^>]*>${label}</a>`).exec(html)?.[1]?.replaceAll('&amp;', '&');

describe('the list', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const at = (path: string) => browse(fixture().server.url).get(path);

	it('keeps what it shows when it shows more, and leads to the last router that was there', async () => {
		const first = await at('/?lat=0.3377&lon=32.5878&radius=50000');
		const more = linkOf(first, 'Show more') ?? '';
		expect(idsOf(first)).toHaveLength(12);
		expect(more).toMatch(new RegExp(`#router-${idsOf(first).at(-1)}$`));
		const second = await at(more);
		expect(idsOf(second).slice(0, 12)).toEqual(idsOf(first));
		expect(idsOf(second).length).toBeGreaterThan(12);
		expect(new Set(idsOf(second)).size).toBe(idsOf(second).length);
	});

	it('filters by price and by what is open, on the list and on the map, also when it shows more', async () => {
		const { data } = await fixture().api.listRouters('lat=0.3377&lon=32.5878&radius=50000&limit=100');
		const cheap = data.filter(
			({ price, offers }) => Math.min(price, ...offers.map((one) => one.price)) <= 500
		);
		const open = data.filter(({ status }) => status === 'online');
		expect(open.length).toBeLessThan(data.length);
		expect(cheap.length).toBeLessThan(data.length);
		const all = async (filters: string) =>
			idsOf(await at(`/?lat=0.3377&lon=32.5878&radius=50000&show=96&${filters}`));
		expect(await all('open=1')).toEqual(open.map(({ id }) => id));
		expect(await all('max=500')).toEqual(cheap.map(({ id }) => id));
		const page = await at('/?open=1&max=500&radius=50000');
		expect(page.html).toMatch(/name="open" value="1" checked/);
		expect(page.html).toMatch(/name="max"[^>]* value="500"/);
		expect(page.html).toContain('/map-routers?open=1&amp;max=500&amp;');
		expect(linkOf(page, 'Show more') ?? 'open=1&max=500').toContain('open=1&max=500');
		const { lat, lon, radius } = areaOf(KISEMENTI, { ...KISEMENTI, lat: 0.7 });
		const onMap = async (filters: string) => {
			const answer = await fetch(
				`${fixture().server.url}/map-routers?${filters}lat=${lat}&lon=${lon}&radius=${radius}`
			);
			return ((await answer.json()) as { routers: [id: number][] }).routers.map(([id]) => id).sort();
		};
		expect(await onMap('')).toHaveLength(data.length);
		expect(await onMap('open=1&')).toEqual(open.map(({ id }) => id).sort());
		expect(await onMap('max=500&')).toEqual(cheap.map(({ id }) => id).sort());
	});

	it('is without streets: the page tells administrators, and nobody else', async () => {
		const notice = 'No street map is installed';
		const seenBy = async (email: string) => {
			const { server } = fixture();
			const password = demoPassword(server, email);
			return (await browse(server.url).post('/owner/sign-in', { email, password, next: '' })).text;
		};
		expect(await seenBy('admin@airtill.example')).toContain(notice);
		expect(await seenBy('owner@airtill.example')).not.toContain(notice);
		expect((await at('/')).text).not.toContain(notice);
	});
});
