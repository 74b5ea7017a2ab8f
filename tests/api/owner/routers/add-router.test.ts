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
		const enabled = await owner.post(`/owner/routers/${router?.['id']}/sales`, { do: 'enable' });
		expect(enabled.text).toContain('This router sells now.');
		expect(await isListed()).toBe(true);
		expect((await owner.get('/owner')).text).not.toContain('Steps to start selling');
	});

	it.each<[string, Partial<typeof FIELDS>, string]>([
		['no network', { ssid: ' ' }, 'Enter the name of the Wi‑Fi.'],
		['no position', { lat: '' }, 'Use a number from −90 to 90'],
		['no price', { price: '' }, 'Enter the price as a number'],
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

	it.each(['wpa_enterprise wpa', 'portal_login', ''])(
		'refuses the access "%s", which its owner could not set up alone',
		async (access) => {
			const page = await owner.post(PATH, { ...FIELDS, key, access });
			expect([page.status, alertOf(page)]).toEqual([400, 'How do buyers connect?']);
			expect(await own()).toEqual([]);
		}
	);

	it('asks for the password that all buyers get, and shows no steps once it sells', async () => {
		const added = await owner.post(PATH, { ...FIELDS, key, access: 'shared_password wpa' });
		const page = added.path.replace(/\?.*/, '');
		expect(added.html).toContain(`href="${page}/access"`);
		const enabled = await owner.post(`${page}/sales`, { do: 'enable' });
		expect(enabled.text).toContain('The router is saved.');
		expect(stepsOf(enabled.html)).toContain('Connect the router: to do');
		await owner.post(`${page}/access`, { access: 'shared_password wpa', password: 'the-owners-own' });
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
		await fixture().sql.run(
			'update routers set responded_at = 1 where id = ?',
			Number((await own())[0]?.['id'])
		);
		expect((await owner.post(PATH, { ...FIELDS, key })).path).toMatch(/\?done=new$/);
	});
});
