/** Accounts: search, invitations, and changes with a reason. */
import { beforeAll, describe, expect, it } from 'vitest';
import { browse, PASSWORD, signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { setUpSecondFactor } from '../../support/pages/second-factor.ts';
import { DATABASES, runsAllOn, useFixture } from '../../support/server/fixture.ts';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	let admin: Browsing;
	let adminId: number;

	const idOf = (email: string) => fixture().sql.count('select id from accounts where email = ?', email);
	const addressOf = async (email: string) => `/admin/accounts/${await idOf(email)}`;
	const accountOf = async (email: string) =>
		(await fixture().sql.all('select role, status, plan from accounts where email = ?', email))[0];

	/** Entries about an account, as "actor action reason". */
	async function audited(email: string): Promise<string[]> {
		const rows = await fixture().sql.all(
			'select actor, action, reason from audit_log where after like ? order by id',
			`{"account_id":${await idOf(email)}%`
		);
		return rows.map(({ actor, action, reason }) =>
			`${actor === `account ${adminId}` ? 'admin' : String(actor)} ${String(action)} ${String(reason)}`.trim()
		);
	}

	/** Creates an account with the page. Returns the path of its invitation. */
	async function create(email: string, role: string): Promise<string> {
		const fields = { email, role, plan: 'default', note: 'new' };
		const page = await admin.post('/admin/accounts', fields);
		expect(page).toMatchObject({ status: 200, text: expect.stringContaining('has an account.') });
		return linkIn(page.html);
	}

	const linkIn = (html: string) =>
		(/class="secret code"[^>]*>https?:\/\/[^/]+([^<]*)</.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');

	async function accept(link: string): Promise<Browsing> {
		const person = browse(fixture().server.url);
		expect((await person.post(link, { password: PASSWORD })).status).toBe(200);
		return person;
	}

	beforeAll(async () => {
		admin = await signInAs(fixture().server, 'admin');
		adminId = await idOf('admin@airtill.example');
	});

	it('a list is searched by a part of the address, role and status, page by page', async () => {
		const { sql } = fixture();
		const add = (email: string, role: string, status: string) =>
			sql.run(
				`insert into accounts (email, role, plan, status, created_at) values (?, ?, 'default', ?, 1)`,
				...[email, role, status]
			);
		for (let n = 100; n < 220; n += 1) await add(`many${n}@list.example`, 'app', 'active');
		await add('a_b@list.example', 'owner', 'suspended');
		await add('axb@list.example', 'owner', 'active');
		const search = async (query: string): Promise<string[]> => {
			const found: string[] = [];
			let path: string | undefined = `/admin/accounts?${query}`;
			while (path !== undefined) {
				const { html } = await admin.get(path);
				found.push(...[...html.matchAll(/<h2><a [^>]*>([^<]*)<\/a>/g)].map(([, email = '']) => email));
				path = /<a href="([^"]*[?&;]at=[^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&');
			}
			return found;
		};
		const many = Array.from({ length: 120 }, (_, n) => `many${219 - n}@list.example`);
		expect(await search('email=MANY')).toEqual(many);
		expect(await search('email=a_b')).toEqual(['a_b@list.example']);
		expect(await search('email=%25')).toEqual([]);
		expect(await search('email=list.example&role=owner')).toEqual(['axb@list.example', 'a_b@list.example']);
		expect(await search('email=list.example&status=suspended')).toEqual(['a_b@list.example']);
		expect(await search('role=admin')).toEqual(['admin@airtill.example']);
		expect(await search('email=%00a_b&role=nobody')).toEqual(['a_b@list.example']);
		expect(await search('email=portal')).toEqual([]);
		expect((await admin.get(await addressOf('portal@airtill.invalid'))).status).toBe(404);
	});

	if (!runsAllOn(database)) return;

	it('an invitation is shown once, works once unless it is deleted, and is made no more once there is a password', async () => {
		const email = 'invited@accounts.example';
		const link = await create(email, 'owner');
		expect(link).toMatch(/^\/owner\/password\?token=/);
		const address = await addressOf(email);
		const before = await admin.get(address);
		expect(before.text).toContain('Unused password links 1');
		expect(before.html).not.toContain('token=');
		const deleted = await admin.post(`${address}?/links`, { note: 'sent to somebody else' });
		expect(deleted.text).toContain('The password links do not work any more.');
		const person = browse(fixture().server.url);
		expect((await person.get(link)).text).toContain('This link does not work any more');
		const again = linkIn((await admin.post(`${address}?/invite`, { note: 'lost the first' })).html);
		await accept(again);
		const refused = await admin.post(`${address}?/invite`, { note: 'again' });
		expect(refused).toMatchObject({ status: 409, text: expect.stringContaining('can ask for a new one') });
		expect((await admin.get(address)).text).toContain(
			'Password chosen Second factor off Unused password links 0'
		);
		expect(await audited(email)).toEqual([
			'admin account.created new',
			'admin account.invited new',
			'admin account.invitations_deleted sent to somebody else',
			'admin account.invited lost the first'
		]);
	});

	it('a second factor is removed for a person whose phone is lost, who then signs in with the password', async () => {
		const email = 'lost-phone@accounts.example';
		const person = await accept(await create(email, 'owner'));
		const path = await addressOf(email);
		const form = { note: 'lost the phone' };
		expect((await admin.post(`${path}?/factor`, form)).text).toContain('This account has no second factor.');
		await setUpSecondFactor(fixture().server, person, PASSWORD, '/owner/settings');
		expect((await admin.post(`${path}?/factor`, form)).text).toContain('The second factor is removed.');
		expect((await person.get('/owner')).path).toMatch(/sign-in/);
		const again = await person.post('/owner/sign-in', { email, password: PASSWORD });
		expect(again.path).toBe('/owner');
		expect(await audited(email)).toContain('admin account.second_factor_removed lost the phone');
	});

	it('an account of the role app gets no link, and a taken address no second account', async () => {
		expect(await create('app@accounts.example', 'app')).toBe('');
		const fields = { role: 'app', plan: 'default', note: 'new' };
		const taken = await admin.post('/admin/accounts', { ...fields, email: 'APP@accounts.example' });
		expect(taken).toMatchObject({ status: 409, text: expect.stringContaining('another account has it') });
		for (const email of ['me@', `x'@example.org`]) {
			const wrong = await admin.post('/admin/accounts', { ...fields, role: 'owner', email });
			expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('Email address: ') });
			expect(await idOf(email)).toBe(0);
		}
	});

	it('keys of a suspended account are refused until it is restored', async () => {
		const { newKey, server, sql } = fixture();
		const { api, accountId } = await newKey();
		const [{ email } = {}] = await sql.all('select email from accounts where id = ?', accountId);
		const address = await addressOf(String(email));
		const status = async () => (await api.send('GET', '/v1/routers?lat=0.3&lon=32.5')).status;
		expect(await status()).toBe(200);
		const suspended = await admin.post(`${address}?/suspend`, { note: 'fraud' });
		expect(suspended.text).toContain('The account is suspended.');
		await server.advance(5_001);
		expect(await status()).toBe(403);
		expect((await admin.post(`${address}?/restore`, { note: 'no fraud' })).text).toContain(
			'is active again.'
		);
		await server.advance(5_001);
		expect(await status()).toBe(200);
		expect(await audited(String(email))).toEqual([
			'admin account.suspended fraud',
			'admin account.restored no fraud'
		]);
	});

	it('role and rate plan change once, with what they were', async () => {
		const email = 'changed@accounts.example';
		await create(email, 'app');
		const address = await addressOf(email);
		for (const time of ['once', 'twice']) {
			await admin.post(`${address}?/role`, { role: 'owner', note: time });
			await admin.post(`${address}?/plan`, { plan: 'enterprise', note: time });
		}
		expect(await accountOf(email)).toEqual({ role: 'owner', status: 'active', plan: 'enterprise' });
		expect((await audited(email)).slice(1)).toEqual([
			'admin account.role_changed once',
			'admin account.plan_changed once'
		]);
		const log = await admin.get('/admin/audit?action=account.role_changed');
		expect(log.text).toContain('role: app → owner');
		for (const [action, value] of Object.entries({ role: 'root', plan: 'portal' })) {
			const wrong = await admin.post(`${address}?/${action}`, { [action]: value, note: 'x' });
			expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('choose one from the list') });
		}
	});

	it.each(['invite', 'links', 'suspend', 'restore', 'role', 'plan'])('%s needs a reason', async (action) => {
		const email = 'reason@accounts.example';
		if ((await idOf(email)) === 0) await create(email, 'owner');
		const entries = await audited(email);
		for (const note of ['', ' \u0000 ']) {
			const fields = { role: 'admin', plan: 'enterprise', note };
			const page = await admin.post(`${await addressOf(email)}?/${action}`, fields);
			expect(page).toMatchObject({ status: 400, text: expect.stringContaining('Reason: say why.') });
		}
		const long = await admin.post(`${await addressOf(email)}?/${action}`, { note: 'x'.repeat(501) });
		expect(long).toMatchObject({ status: 400, text: expect.stringContaining('at most 500 characters') });
		expect(await audited(email)).toEqual(entries);
		expect(await accountOf(email)).toEqual({ role: 'owner', status: 'active', plan: 'default' });
	});

	it('administrators keep their own status and role', async () => {
		const address = await addressOf('admin@airtill.example');
		expect((await admin.get(address)).text).toContain('This is your own account.');
		for (const [action, fields] of [
			['suspend', {}],
			['role', { role: 'owner' }]
		] as const) {
			const page = await admin.post(`${address}?/${action}`, { ...fields, note: 'enough' });
			expect(page).toMatchObject({
				status: 409,
				text: expect.stringContaining('Ask another administrator.')
			});
		}
		expect(await accountOf('admin@airtill.example')).toMatchObject({ role: 'admin', status: 'active' });
	});
});
