/** The owner pages: the sign-in, what is not found, and nothing of anybody else's. */
import { describe, expect, it } from 'vitest';
import { numberEnding } from '../../support/api/api.ts';
import { browse, fieldValue, PASSWORD, signInAs } from '../../support/pages/browsing.ts';
import { addRouter, newOwner, sendBrand, signInOnOwnerPages } from '../../support/pages/owners.ts';
import { useFixture } from '../../support/server/fixture.ts';

describe('the owner pages', () => {
	const fixture = useFixture({ database: 'sqlite' });

	it('have no id twice, so that each label of the settings leads to its field', async () => {
		const { html } = await (await newOwner(fixture())).get('/owner/settings');
		const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
		expect(ids).toContain('email');
		expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
	});

	describe('the sign-in', () => {
		it('leads back to the page that was wanted, and to no other site', async () => {
			const { email } = await newOwner(fixture());
			const nobody = browse(fixture().server.url);
			const asked = await nobody.get('/owner/money?period=monthly');
			expect(asked.path).toBe('/owner/sign-in?next=%2Fowner%2Fmoney%3Fperiod%3Dmonthly');
			const [, page] = await signInOnOwnerPages(fixture(), email, fieldValue(asked, 'next'));
			expect([page.status, page.path]).toEqual([200, '/owner/money?period=monthly']);
			for (const next of ['https://evil.example/', '//evil.example', '/owner/../developer', '/owner\\evil']) {
				const [person, safe] = await signInOnOwnerPages(fixture(), email, next);
				expect(safe.path).toBe('/owner');
				expect((await person.post('/owner/sign-out')).path).toBe('/owner/sign-in');
			}
		});

		it('after its end, a form comes back with its entries, to be sent again; one with a secret does not', async () => {
			const owner = await newOwner(fixture());
			const router = await addRouter(fixture(), owner.accountId);
			const path = `/fr/owner/routers/${router}/edit?/details`;
			const form = await owner.get(path);
			const was = Object.fromEntries(
				['name', 'address', 'ssid', 'lat', 'lon', 'opening_hours'].map((name) => [
					`was-${name}`,
					fieldValue(form, `was-${name}`)
				])
			);
			await owner.post('/owner/sign-out');
			const name = 'Café "Ü" & Co';
			const sent = {
				...was,
				name,
				ssid: 'Net',
				lat: '1',
				lon: '2',
				'from-all': '08:00',
				'until-all': '20:00'
			};
			const withSecret = await owner.post(path, { ...sent, password: 'hunter2hunter2' });
			expect(withSecret.path).toBe('/fr/owner/sign-in');
			const page = await owner.post(path, { ...sent, password: '' });
			expect([page.status, page.path]).toEqual([401, path]);
			expect(page.text).toContain('Vous êtes déconnecté. Rien n’a encore été enregistré.');
			expect(page.text).not.toContain('ne sont pas gardés');
			expect(page.html).toContain(`href="/fr/owner/sign-in" target="_blank"`);
			expect(page.html).toContain(`<form method="post" action="${path}"`);
			const kept = Object.fromEntries(Object.keys(sent).map((field) => [field, fieldValue(page, field)]));
			expect(kept).toEqual(sent);
			expect((await owner.post(path, kept)).status).toBe(401);
			await owner.post('/owner/sign-in', { email: owner.email, password: PASSWORD });
			expect((await owner.post(path, kept)).path).toBe(`/fr/owner/routers/${router}?done=edit`);
			expect(await fixture().sql.count('select count(*) from routers where name = ?', name)).toBe(1);
		});

		it('after its end, a form without entries or with a large file leads to the sign-in page', async () => {
			const nobody = browse(fixture().server.url);
			expect((await nobody.post('/owner/settings?/remove')).path).toBe('/owner/sign-in');
			const file = { bytes: Buffer.alloc(20_000) };
			const page = await sendBrand(nobody, fixture().server.url, '/owner/settings?/brand', {
				name: 'Mine',
				logo: file
			});
			expect(page.path).toBe('/owner/sign-in');
		});
	});

	it('of earlier addresses lead to those of now', async () => {
		const owner = await newOwner(fixture());
		const router = await addRouter(fixture(), owner.accountId);
		for (const [old, now] of [
			['/owner/earnings?period=weekly', '/owner/money?period=weekly'],
			['/sw/owner/payments?period=daily&day=2026-11-01', '/sw/owner/money?period=daily&day=2026-11-01'],
			['/owner/earnings/statement?day=2026-11-01', '/owner/money/statement?day=2026-11-01'],
			['/owner/alerts', '/owner/settings?show=alerts'],
			[`/owner/routers/${router}/price`, `/owner/routers/${router}`],
			[`/owner/routers/${router}/access`, `/owner/routers/${router}/edit`]
		] as const) {
			const answer = await owner.raw(old);
			expect([answer.status, answer.headers.get('location')]).toEqual([301, now]);
		}
	});

	it('that do not exist lead back to the first owner page, after the sign-in', async () => {
		const owner = await newOwner(fixture());
		const page = await owner.get('/owner/nonsense');
		expect(page.status).toBe(404);
		expect(page.text).toContain('Page not found.');
		expect(page.html).toMatch(/<main.*<a class="button short" href="\/owner"/s);
		expect((await browse(fixture().server.url).get('/owner/nonsense')).path).toMatch(/^\/owner\/sign-in/);
	});

	it('nothing of another owner’s can be reached, and nothing changed', async () => {
		const [owner, stranger] = [await newOwner(fixture()), await newOwner(fixture())];
		const router = await addRouter(fixture(), owner.accountId, { name: 'Somebody Else’s Place' });
		await fixture().buy({ router_id: router, phone: numberEnding('008') });
		const csv = '/owner/money/export?period=monthly';
		expect((await owner.get(csv)).html).toContain('Somebody Else');
		const lists = [
			'money',
			'money/statement',
			'customers',
			'customers?group=active',
			'customers?group=expired',
			'routers',
			'settings'
		];
		for (const path of ['/owner', csv, ...lists.map((list) => `/owner/${list}`)]) {
			const page = await stranger.get(path);
			expect([path, page.status]).toEqual([path, 200]);
			expect(page.html).not.toContain('Somebody Else');
		}
		const before = await fixture().sql.all('select * from routers where id = ?', router);
		const fields = { price: '1', from: '500' };
		expect((await stranger.post(`/owner/routers/${router}?/price`, fields)).status).toBe(404);
		await fixture().sql.run("update accounts set status = 'suspended' where id = ?", owner.accountId);
		expect((await owner.get('/owner')).text).toContain('This account is suspended.');
		expect(await fixture().sql.all('select * from routers where id = ?', router)).toEqual(before);
		for (const id of ['0', '-1', 'abc', '99999999999999999999', `${router}%2F..`]) {
			expect((await owner.get(`/owner/routers/${id}`)).status).toBe(404);
		}
	});

	it('load no framework, only the enhancement script', async () => {
		const owner = await newOwner(fixture());
		const { html } = await owner.get('/owner');
		expect(html.match(/<script type="module"/g)).toHaveLength(1);
		expect(html).not.toMatch(/rel="modulepreload"/);
	});
});

describe('a demo', () => {
	const fixture = useFixture({ env: { AIRTILL_DEMO: 'on' } });

	it('has a month of sales, which are marked as such', async () => {
		const owner = await signInAs(fixture().server, 'owner');
		const day = new Date(fixture().server.now() - 15 * 24 * 60 * 60_000).toISOString().slice(0, 10);
		const csv = await (await owner.raw(`/owner/money/export?period=monthly&day=${day}`)).text();
		expect(csv).toMatch(/,DEMO-\d+,mtn_momo,platform\r\n/);
		expect(await fixture().sql.count('select count(*) from payments where applied = 1')).toBeGreaterThan(300);
		const unmarked = "select count(*) from payments where provider_reference not like 'DEMO-%'";
		expect(await fixture().sql.count(unmarked)).toBe(0);
		const { html } = await owner.get(`/owner/money?period=monthly&day=${day}`);
		const [, purchase = ''] = /href="(\/owner\/customers\/\d+)"/.exec(html) ?? [];
		expect((await owner.get(purchase)).text).toContain('What happened');
	});
});
