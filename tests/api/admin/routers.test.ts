/** Routers of all owners: search, the page of one, and changes with a reason. */
import { beforeAll, describe, expect, it } from 'vitest';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { fieldValue, signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { addRouter, newOwner, newStaff, type Owner } from '../../support/pages/owners.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let admin: Browsing;
	let adminId: number;
	let owner: Owner;
	let router: number;
	let gateway: string;

	beforeAll(async () => {
		admin = await signInAs(fixture().server, 'admin');
		adminId = await fixture().sql.count(`select id from accounts where email = 'admin@airtill.example'`);
		owner = await newOwner(fixture());
		router = await addRouter(fixture(), owner.accountId, { name: 'Quayside', ssid: 'Harbour Net' });
		const registered = { kind: 'hostapd', access: 'wpa_personal_per_client', router } as const;
		({ name: gateway } = await registerRadius(fixture(), registered));
	});

	async function search(query: string): Promise<number[]> {
		const found: number[] = [];
		let path: string | undefined = `/admin/routers?${query}`;
		while (path !== undefined) {
			const { html } = await admin.get(path);
			found.push(
				...[...html.matchAll(/<h2><a href="[^"]*\/admin\/routers\/(\d+)"/g)].map(([, id]) => Number(id))
			);
			path = /<a href="([^"]*[?&;]after=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
		}
		return found;
	}
	const find = (text: string) => search(new URLSearchParams({ find: text }).toString());

	it('are found by number, words, owner and gateway, page by page', async () => {
		for (const text of [String(router), 'quays', 'harb net', owner.email.toUpperCase(), gateway])
			expect(await find(text), text).toContain(router);
		expect(await find(owner.email)).toEqual([router]);
		expect(await find(gateway)).toEqual([router]);
		expect(await find('nobody@people.example')).toEqual([]);
		expect(await find('"*\u0000')).toEqual([]);
		const crowd = await newOwner(fixture());
		const many: number[] = [];
		for (let n = 0; n < 120; n += 1) many.push(await addRouter(fixture(), crowd.accountId, { name: 'Many' }));
		expect(await find('many')).toEqual(many);
		expect(await find(crowd.email)).toEqual(many);
		expect((await search('')).filter((id) => many.includes(id))).toEqual(many);
	});

	it('have a page with the owner, the gateways, payments and money that waits', async () => {
		const { session, payment } = await fixture().buy({ router_id: router });
		await fixture().sql.run(
			`update gateways set trouble = 'It refused our key.' where router_id = ?`,
			router
		);
		await fixture().sql.run(
			`insert into reviews (payment_id, subject, reason, opened_at) values (?, 'it', 'amount_mismatch', 1)`,
			payment.id
		);
		await fixture().sql.run(`update sessions set status = 'activating' where id = ?`, session.id);
		const { text, html } = await admin.get(`/admin/routers/${router}`);
		expect(html.includes(`/admin/accounts/${owner.accountId}">${owner.email}</a>`)).toBe(true);
		expect(text).toContain(gateway);
		expect(text).toContain('It refused our key.');
		expect(text).toContain('Another amount was taken');
		expect(text).toContain(`paid, not yet connected, session ${session.id}`);
		expect(text).toContain(`payment ${payment.id}, `);
		expect(text).not.toContain(session.phone);
		expect((await admin.get('/admin/routers/999999')).status).toBe(404);
	});

	const press = (what: string, note = 'complaints') =>
		admin.post(`/admin/routers/${router}?/${what}`, { note });
	const audited = async () =>
		(await fixture().sql.all('select * from audit_log where router_id = ? order by id', router)).map(
			({ actor, action, reason }) =>
				`${actor === `account ${adminId}` ? 'admin' : String(actor)} ${String(action)} ${String(reason)}`
		);
	const isListed = async () =>
		(await fixture().api.listRouters('lat=0.3&lon=32.5&radius=50000&limit=100&name=quayside')).data.length;

	it('are disabled and enabled once with a reason, however often the button is pressed', async () => {
		expect(await isListed()).toBe(1);
		const pages = await Promise.all([press('disable'), press('disable')]);
		for (const { text } of pages) expect(text).toContain('The router is disabled.');
		expect(await isListed()).toBe(0);
		await owner.post(`/owner/routers/${router}?/sales`, { do: 'enable' });
		expect(await isListed()).toBe(0);
		expect((await press('enable', 'settled')).text).toContain('The router is enabled again.');
		await press('enable', 'settled');
		expect(await isListed()).toBe(1);
		const entries = ['admin router.disabled complaints', 'admin router.enabled settled'];
		expect(await audited()).toEqual(entries);
		expect((await admin.get(`/admin/routers/${router}`)).text).toContain('router.enabled settled');
		const log = await admin.get(`/admin/audit?router=${router}`);
		expect(log.html.match(/<b>router\.\w+<\/b>/g)).toHaveLength(entries.length);
	});

	it('get a confirmed access, and lose it', async () => {
		const before = (await audited()).length;
		expect((await press('confirm', 'tried it')).text).toContain('The access is confirmed.');
		expect((await press('withdraw', 'in error')).text).toContain('The confirmation is withdrawn.');
		expect((await audited()).slice(before)).toEqual([
			'admin router.access_confirmed tried it',
			'admin router.access_withdrawn in error'
		]);
	});

	it('get a price, which is checked', async () => {
		const priced = (price: string) =>
			admin.post(`/admin/routers/${router}?/price`, { price, note: 'as agreed by phone' });
		for (const wrong of ['', 'cheap', '0', '-5', '1e99', '5.12']) {
			expect(await priced(wrong)).toMatchObject({ status: 400, text: expect.stringContaining('Price: ') });
		}
		expect(fieldValue(await priced('5 hundred'), 'price')).toBe('5 hundred');
		expect((await priced('650')).text).toContain('The price is UGX 650 an hour.');
		expect((await fixture().api.getRouter(router)).price).toBe(650);
	});

	describe('of which an administrator has changed something', () => {
		const put = async (path: string, body: object) => {
			const answer = await fixture().admin.send('PUT', `/v1/owner/routers/${router}/${path}`, { body });
			expect(answer.status).toBe(200);
		};
		const offers = [{ name: 'Night', duration: '8h', price: 900, active: true }];
		const form = (name: string, fields = {}) =>
			admin.post(`/admin/routers/${router}?/${name}`, { note: `why ${name}`, ...fields });

		it.each([
			['the price on the page', () => form('price', { price: '777' }), 'Price', '777', 'why price'],
			['sales, stopped', () => form('disable'), 'Disabled', '', 'why disable'],
			['sales, again', () => form('enable'), 'Enabled', '', 'why enable'],
			['the confirmed access', () => form('confirm'), 'confirmed', '', 'why confirm'],
			[
				'the price with a key',
				() => put('price', { price: 888, reason: 'in the contract' }),
				'Price',
				'888',
				'in the contract'
			],
			['offers with a key', () => put('offers', { offers }), 'Offers', 'Night', 'No reason given']
		])('show it to the owner: %s, with who, when and why', async (_name, change, what, value, reason) => {
			await change();
			const { html } = await owner.get(`/owner/routers/${router}`);
			const [newest = ''] = /<section[^>]*aria-labelledby="changes".*?<\/li>/s.exec(html) ?? [];
			for (const part of [what, value, reason, '@']) {
				expect(newest).toContain(part);
			}
			expect(newest).toMatch(/\d\d:\d\d/);
		});

		it('do not list what the owner and staff change', async () => {
			const count = async () =>
				(await owner.get(`/owner/routers/${router}`)).html.match(/<li>\s*<p><b>/g)?.length ?? 0;
			const before = await count();
			await owner.post(`/owner/routers/${router}?/sales`, { do: 'pause' });
			await owner.post(`/owner/routers/${router}?/sales`, { do: 'reopen' });
			const manager = await newStaff(fixture(), owner, 'manager');
			await manager.post(`/owner/routers/${router}?/sales`, { do: 'pause' });
			expect(await audited()).toContainEqual(expect.stringContaining('router.paused'));
			expect(await count()).toBe(before);
		});
	});

	it('a reason that is too long is refused, and nothing changes', async () => {
		const body = { price: 999, reason: 'x'.repeat(501) };
		const answer = await fixture().admin.send('PUT', `/v1/owner/routers/${router}/price`, { body });
		expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reason' }] } });
		expect((await fixture().api.getRouter(router)).price).not.toBe(999);
	});

	it.each(['price', 'disable', 'enable', 'confirm', 'withdraw'])('%s needs a reason', async (what) => {
		const before = await audited();
		const page = await press(what, ' ');
		expect(page).toMatchObject({ status: 400, text: expect.stringContaining('Reason: say why.') });
		expect(await audited()).toEqual(before);
	});
});
