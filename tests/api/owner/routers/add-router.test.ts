/** An owner adds a router on the owner pages, and sees what is missing before it sells. */
import { beforeEach, describe, expect, it } from 'vitest';
import { fieldValue } from '../../../support/pages/browsing.ts';
import { alertOf, newOwner, type Owner } from '../../../support/pages/owners.ts';
import { DATABASES, runsAllOn, useFixture } from '../../../support/server/fixture.ts';

const PATH = '/owner/routers/new';
const FIELDS = {
	...{ name: 'Café Owino', address: 'Market Street', ssid: 'OWINO', lat: '-10.5', lon: '20.25' },
	...{ price: '1,500', access: 'portal_login nopass' }
};

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let owner: Owner;
	let key: string;

	beforeEach(async () => {
		owner = await newOwner(fixture());
		key = fieldValue(await owner.get(PATH), 'key');
	});

	const own = () =>
		fixture().sql.all('select * from routers where owner_account_id = ? order by id', owner.accountId);

	/** Names of the steps, each with its state. */
	const stepsOf = (html: string) =>
		[...html.matchAll(/<b>([^<]*)<\/b>\s*<span class="mark[^"]*">\s*(done|to do)/g)].map(([, name, state]) =>
			[name, state].join(': ')
		);

	const isListed = async () => {
		const { data } = await fixture().api.listRouters(`lat=${FIELDS.lat}&lon=${FIELDS.lon}&radius=1000`);
		return data.some(({ name }) => name === FIELDS.name);
	};

	it('adds one router for a form that is sent several times at once', async () => {
		const send = () =>
			owner.raw(PATH, {
				method: 'POST',
				body: new URLSearchParams({ ...FIELDS, key }),
				headers: { origin: fixture().server.url }
			});
		const sent = await Promise.all([send(), send(), send(), send()]);
		const rows = await own();
		expect(rows).toHaveLength(1);
		for (const { headers } of sent) {
			expect(headers.get('location')).toBe(`/owner/routers/${rows[0]?.['id']}?done=new`);
		}
	});

	if (!runsAllOn(database)) return;

	it('keeps the new router from buyers until its owner enables it, and records who added it', async () => {
		const start = await owner.get('/owner');
		expect(start.text).toContain('You have no routers yet.');
		expect(start.text).not.toContain('Put up your poster');
		const page = await owner.post(PATH, { ...FIELDS, key });
		const [router] = await own();
		expect((await owner.get('/owner')).html).toContain(`href="/owner/routers/${router?.['id']}/gateway"`);
		expect(page.path).toBe(`/owner/routers/${router?.['id']}?done=new`);
		expect(page.text).toContain('The router is added.');
		expect(page.text).toContain('It sells by the hour. You can also sell offers with their own prices.');
		expect(stepsOf(page.html)).toEqual([
			...['Name and place: done', 'Price and offers: done'],
			...['Connect the router: to do', 'Open for sale: to do']
		]);
		const { name, address, ssid } = FIELDS;
		const stated = {
			...{ name, address, ssid, lat: -10.5, lon: 20.25, price_minor: 1500, access_kind: 'portal_login' }
		};
		expect(router).toMatchObject({ ...stated, security: 'nopass', status: 'online' });
		const [entry] = await fixture().sql.all(
			"select * from audit_log where action = 'router.added' order by id desc"
		);
		expect(entry?.['actor']).toBe(`account ${owner.accountId}`);
		expect(JSON.parse(String(entry?.['after']))).toMatchObject({ router_id: router?.['id'], ...stated });

		expect(await isListed()).toBe(false);
		const enabled = await owner.post(`/owner/routers/${router?.['id']}?/sales`, { do: 'enable' });
		expect(enabled.text).toContain('This router sells now.');
		expect(await isListed()).toBe(true);
		expect((await owner.get('/owner')).text).not.toContain('Steps to start selling');
	});

	const sold = (id: number) => fixture().api.getRouter(id);
	const soldOffers = async (id: number) => (await sold(id)).offers.map((one) => [one.duration, one.price]);
	const enabled = async (page: { path: string }): Promise<number> => {
		const id = Number(/routers\/(\d+)/.exec(page.path)?.[1]);
		await owner.post(`/owner/routers/${id}?/sales`, { do: 'enable' });
		return id;
	};
	const order = { payment_method: 'mobile_money', phone: '+256772123456' };
	/** What an order of time without an offer costs; null if it is not sold. */
	const costs = async (router_id: number, duration: string): Promise<number | null> => {
		const body = { router_id, duration, ...order };
		const { status, body: made } = await fixture().api.send('POST', '/v1/sessions', { body });
		return status === 201 ? (made as { amount: number }).amount : null;
	};

	it('has a list of offers ticked, which the new router sells at prices after the hour', async () => {
		const form = await owner.get(PATH);
		const boxes = [...form.html.matchAll(/<input[^>]*name="offer"[^>]*>/g)].map(([box]) => box);
		expect(boxes.filter((box) => /\schecked/.test(box))).toHaveLength(6);
		const body = { ...FIELDS, key, offer: boxes.map((box) => /value="([^"]*)"/.exec(box)?.[1] ?? '') };
		const id = await enabled(await owner.post(PATH, body));
		const prices = { '30m': 900, '1h': 1500, '3h': 3800, '1d': 7500, '1w': 30_000, '30d': 90_000 };
		expect(await soldOffers(id)).toEqual(Object.entries(prices));
		// An owner who goes back and sends the form again keeps the later list.
		const path = `/owner/routers/${id}/offers`;
		const version = fieldValue(await owner.get(path), 'version');
		const day = { 'count-0': '1', 'unit-0': 'd', 'price-0': '2000', 'active-0': 'yes' };
		await owner.post(path, { do: 'save', version, rows: '1', hourly: 'yes', ...day });
		await owner.post(PATH, body);
		expect(await soldOffers(id)).toEqual([['1d', 2000]]);
	});

	it('sells nothing longer than 6 hours by the hour until its owner says so', async () => {
		const id = await enabled(await owner.post(PATH, { ...FIELDS, key }));
		expect(await sold(id)).toMatchObject({ hourly: true, max_duration: '6h', offers: [] });
		expect([await costs(id, '6h'), await costs(id, '361m'), await costs(id, '1d')]).toEqual([
			9000,
			null,
			null
		]);
		const path = `/owner/routers/${id}/offers`;
		const list = await owner.get(path);
		expect(list.text).toContain('times longer than 6 hours by the hour: one day costs UGX 36,000');
		const form = { do: 'save', rows: '0', hourly: 'yes', version: fieldValue(list, 'version') };
		await owner.post(path, { ...form, long: 'yes' });
		expect((await sold(id)).max_duration).toBe('30d');
		expect(await costs(id, '1d')).toBe(36_000);
		const again = await owner.get(path);
		expect(again.html).toMatch(/name="long"[^>]*checked/);
		await owner.post(path, { ...form, version: fieldValue(again, 'version') });
		expect(await costs(id, '1d')).toBeNull();
	});

	it.each<[string, Partial<typeof FIELDS>, string]>([
		['no position', { lat: '' }, 'Use a number from −90 to 90'],
		['a price of nothing', { price: '0' }, 'Enter the price as a number'],
		['too high a price', { price: '99999999999' }, 'Use a price of at most']
	])(
		'says beside the field why it refuses %s, keeps what was typed and adds nothing',
		async (_w, wrong, why) => {
			const page = await owner.post(PATH, { ...FIELDS, key, ...wrong });
			expect([page.status, alertOf(page)]).toEqual([
				400,
				'Correct the marked fields. Nothing has changed yet.'
			]);
			const [[field, typed] = ['', '']] = Object.entries(wrong);
			expect(new RegExp(`id="${field}-error"[^>]*>([^<]*)`).exec(page.html)?.[1]).toContain(why);
			expect([fieldValue(page, field), fieldValue(page, 'name')]).toEqual([typed, FIELDS.name]);
			expect(fieldValue(page, 'key')).toBe(key);
			expect(await own()).toEqual([]);
		}
	);

	it('refuses an access that its owner could not set up alone', async () => {
		const page = await owner.post(PATH, { ...FIELDS, key, access: 'wpa_enterprise wpa' });
		expect([page.status, alertOf(page)]).toEqual([400, 'How do buyers connect?']);
		expect(await own()).toEqual([]);
	});

	it('asks for the password that all buyers get, and shows no steps once it sells', async () => {
		const added = await owner.post(PATH, { ...FIELDS, key, access: 'shared_password wpa' });
		const page = added.path.replace(/\?.*/, '');
		expect(added.html).toContain(`href="${page}/edit#access"`);
		const enabled = await owner.post(`${page}?/sales`, { do: 'enable' });
		expect(enabled.text).toContain('The router is saved.');
		expect(stepsOf(enabled.html)).toContain('Connect the router: to do');
		await owner.post(`${page}/edit?/access`, { access: 'shared_password wpa', password: 'the-owners-own' });
		expect((await owner.get(page)).text).not.toContain('Steps to start selling');
	});

	it('takes 20 routers that are not connected, and no more', async () => {
		for (let count = 0; count < 20; count += 1) {
			const page = await owner.post(PATH, { ...FIELDS, key: fieldValue(await owner.get(PATH), 'key') });
			expect(page.status).toBe(200);
		}
		const page = await owner.post(PATH, { ...FIELDS, key });
		expect([page.status, alertOf(page)]).toEqual([
			400,
			'You have 20 routers that are not connected yet. Connect one of them first, or ask the administrator.'
		]);
		const [connected, selling] = (await own()).map(({ id }) => Number(id));
		await fixture().sql.run('update routers set responded_at = 1 where id = ?', connected ?? 0);
		expect((await owner.post(PATH, { ...FIELDS, key })).path).toMatch(/\?done=new$/);
		// One that sells without a gateway counts no more either.
		const next = fieldValue(await owner.get(PATH), 'key');
		expect((await owner.post(PATH, { ...FIELDS, key: next })).status).toBe(400);
		await owner.post(`/owner/routers/${selling}/edit?/access`, {
			access: 'shared_password wpa',
			password: 'the-owners-own'
		});
		await owner.post(`/owner/routers/${selling}?/sales`, { do: 'enable' });
		await fixture().buy({ router_id: selling ?? 0 });
		expect((await owner.post(PATH, { ...FIELDS, key: next })).path).toMatch(/\?done=new$/);
	});
});
