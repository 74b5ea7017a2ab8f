/** An owner invites staff, changes their role and removes them; each person acts under the own name. */
import { beforeAll, expect, it } from 'vitest';
import {
	browse,
	mailedLink,
	PASSWORD,
	triesForgotten,
	type Browsing,
	type Page
} from '../../support/pages/browsing.ts';
import { addRouter, alertOf, newOwner, newStaff, type Owner } from '../../support/pages/owners.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const NOTE = { note: 'Asked at the counter' };

const fixture = useFixture({ database: 'sqlite' });
let owner: Owner;
let router: number;

beforeAll(async () => {
	owner = await newOwner(fixture());
	router = await addRouter(fixture(), owner.accountId);
});

const idOf = (email: string) => fixture().sql.count('select id from accounts where email = ?', email);
const accountOf = async (email: string) => {
	const columns = 'role, employer_id, staff_role, status';
	return (await fixture().sql.all(`select ${columns} from accounts where email = ?`, email))[0];
};
const audited = (action: string, id: number) =>
	fixture().sql.all(
		`select actor, after from audit_log where action = ? and after like ? order by id`,
		...[action, `{"account_id":${id},%`]
	);
const actor = () => `account ${owner.accountId}`;

/** Invites from a minute with no mails. */
async function invite(email: string, role: 'manager' | 'cashier', by = owner): Promise<Page> {
	await triesForgotten(fixture());
	return by.post('/owner/settings?/invite', { email, role });
}

/** The link in the newest of so many emails. */
const linkTo = (email: string, count = 1) => mailedLink(fixture().server, email, count);

/** Invites and accepts. */
async function hire(email: string, role: 'manager' | 'cashier'): Promise<Browsing> {
	await invite(email, role);
	const person = browse(fixture().server.url);
	expect(await person.post(await linkTo(email), { password: PASSWORD })).toMatchObject({
		...{ status: 200, path: '/owner' }
	});
	return person;
}

it('an invitation goes to the address only, in the language of the owner, works once, and is logged', async () => {
	const email = 'first@staff.example';
	await triesForgotten(fixture());
	const shown = await owner.post('/sw/owner/settings?/invite', {
		email: ' First@staff.example',
		role: 'cashier'
	});
	expect([shown.status, shown.html]).toEqual([200, expect.not.stringContaining('token=')]);
	expect(shown.text).toContain('Amealikwa, bado hajakubali');
	// Until the person accepts, the address has no account.
	expect(await idOf(email)).toBe(0);
	const link = await linkTo(email);
	expect(link).toMatch(/^\/sw\/owner\/password\?token=/);
	expect((await owner.get('/owner/settings')).html).not.toContain('token=');
	const person = browse(fixture().server.url);
	expect((await person.get(link)).text).toContain(`${owner.email} anakualika`);
	expect(await person.post(link, { password: PASSWORD })).toMatchObject({ status: 200, path: '/sw/owner' });
	const again = await browse(fixture().server.url).post(link, { password: PASSWORD });
	expect(again.text).toContain('Kiungo hiki hakifanyi kazi tena');
	const id = await idOf(email);
	expect(await accountOf(email)).toEqual({
		...{ role: 'staff', employer_id: owner.accountId, staff_role: 'cashier', status: 'active' }
	});
	expect((await owner.get('/owner/settings')).text).not.toContain('has not accepted');
	expect(await audited('staff.added', id)).toMatchObject([{ actor: `account ${id}` }]);
	const invited = `select actor from audit_log where action = 'staff.invited' and after like ?`;
	const [{ actor: by } = {}] = await fixture().sql.all(invited, `%"employer":${owner.accountId},%`);
	expect(by).toBe(actor());
});

it('a form that is sent twice invites once; the last link works, with the last role', async () => {
	const email = 'twice@staff.example';
	await invite(email, 'cashier');
	const first = await linkTo(email);
	await invite(email, 'manager');
	const last = await linkTo(email, 2);
	const row = 'select count(*) from staff_invitations where email = ?';
	expect(await fixture().sql.count(row, email)).toBe(1);
	const person = browse(fixture().server.url);
	expect((await person.get(first)).text).toContain('This link does not work any more');
	expect((await person.post(first, { password: PASSWORD })).status).toBe(400);
	expect((await person.post(last, { password: PASSWORD })).path).toBe('/owner');
	expect(await accountOf(email)).toMatchObject({ staff_role: 'manager' });
	expect(alertOf(await invite(email, 'manager'))).toContain('already on your staff');
});

it('an invitation ends when it is withdrawn, and another owner cannot end or repeat it', async () => {
	const email = 'withdrawn@staff.example';
	await invite(email, 'cashier');
	const link = await linkTo(email);
	const id = await fixture().sql.count('select id from staff_invitations where email = ?', email);
	const other = await newOwner(fixture());
	for (const action of ['withdraw', 'again']) {
		expect((await other.post(`/owner/settings?/${action}`, { id: String(id) })).status).toBe(409);
	}
	await owner.post('/owner/settings?/again', { id: String(id) });
	const second = await linkTo(email, 2);
	expect((await owner.post('/owner/settings?/withdraw', { id: String(id) })).path).toBe(
		'/owner/settings?done=withdraw'
	);
	for (const dead of [link, second]) {
		const person = browse(fixture().server.url);
		expect((await person.post(dead, { password: PASSWORD })).status).toBe(400);
	}
	expect(await idOf(email)).toBe(0);
	expect((await owner.post('/owner/settings?/withdraw', { id: String(id) })).status).toBe(409);
});

it('the answer does not tell whether an address has an account, and nobody is taken over', async () => {
	const other = await newOwner(fixture());
	const theirs = await newStaff(fixture(), other, 'cashier');
	const developer = await newOwner(fixture(), 'app');
	const admin = await newOwner(fixture(), 'admin');
	const asked = await newOwner(fixture(), 'app');
	await fixture().sql.run(`update accounts set status = 'suspended' where id = ?`, asked.accountId);
	const boss = await newOwner(fixture());
	const pageFor = async (email: string) => {
		const page = await invite(email, 'manager', boss);
		const list = await boss.get('/owner/settings');
		const id = await fixture().sql.count('select id from staff_invitations where email = ?', email);
		await boss.post('/owner/settings?/withdraw', { id: String(id) });
		return [page.status, ...[page, list].map(({ text }) => text.replaceAll(email, 'ADDRESS'))];
	};
	const unknown = await pageFor('nobody@staff.example');
	for (const { email } of [other, theirs, developer, admin, asked]) {
		const before = await accountOf(email);
		expect([email, ...(await pageFor(email))]).toEqual([email, ...unknown]);
		await eventually('the person is told', async () =>
			fixture().server.stdout().includes(`To: ${email}\nSubject: ${boss.email} invites you to Airtill`)
		);
		expect(await accountOf(email)).toEqual(before);
	}
	expect(fixture().server.stdout()).not.toMatch(
		new RegExp(`To: ${developer.email}\nSubject: ${boss.email}[^-]*token=staff`)
	);
	const wrong = await owner.post('/owner/settings?/invite', { email: 'me@', role: 'cashier' });
	expect([wrong.status, alertOf(wrong)]).toEqual([400, 'Enter a complete email address.']);
});

it('a person who got an account of another kind meanwhile does not join', async () => {
	const email = 'meanwhile@staff.example';
	await invite(email, 'manager');
	const link = await linkTo(email);
	const add = `insert into accounts (email, role, plan, status, created_at) values (?, 'app', 'default', 'active', 1)`;
	await fixture().sql.run(add, email);
	expect((await browse(fixture().server.url).post(link, { password: PASSWORD })).status).toBe(400);
	expect(await accountOf(email)).toMatchObject({ role: 'app', employer_id: null });
});

it('the role changes at once, only among the staff of this owner, and once in the log', async () => {
	const email = 'changed@staff.example';
	const person = await hire(email, 'cashier');
	const id = await idOf(email);
	expect((await person.get('/owner/money')).status).toBe(403);
	for (let time = 0; time < 2; time += 1) {
		const page = await owner.post('/owner/settings?/role', { id: String(id), role: 'manager' });
		expect(page.path).toBe('/owner/settings?done=role');
	}
	expect((await person.get('/owner/money')).status).toBe(200);
	expect(await audited('staff.role_changed', id)).toMatchObject([{ actor: actor() }]);
	const other = await newOwner(fixture());
	const foreign = await other.post('/owner/settings?/role', { id: String(id), role: 'cashier' });
	expect([foreign.status, alertOf(foreign)]).toEqual([409, expect.stringContaining('on your staff')]);
	const removed = await other.post('/owner/settings?/remove', { id: String(id) });
	expect(removed.status).toBe(409);
	expect(await accountOf(email)).toMatchObject({ employer_id: owner.accountId, staff_role: 'manager' });
	const wrong = await owner.post('/owner/settings?/role', { id: String(id), role: 'owner' });
	expect(wrong.status).toBe(400);
	expect((await person.post('/owner/settings?/role', { id: String(id), role: 'manager' })).status).toBe(403);
});

it('a removed person is signed out at once, and can be invited again', async () => {
	const email = 'removed@staff.example';
	const person = await hire(email, 'manager');
	const id = await idOf(email);
	const form = `/owner/routers/${router}/edit?/details`;
	expect((await person.get(form)).status).toBe(200);
	expect((await owner.post('/owner/settings?/remove', { id: String(id) })).path).toBe(
		'/owner/settings?done=remove'
	);
	const before = await fixture().sql.all('select * from routers where id = ?', router);
	// Pages and forms that are still open.
	expect((await person.get('/owner')).path).toMatch(/^\/owner\/sign-in/);
	expect((await person.post(form, { name: 'Mine' })).status).toBe(401);
	expect(await fixture().sql.all('select * from routers where id = ?', router)).toEqual(before);
	const back = await browse(fixture().server.url).post('/owner/sign-in', {
		email,
		password: PASSWORD,
		next: ''
	});
	expect(back.status).toBe(400);
	expect((await owner.post('/owner/settings?/remove', { id: String(id) })).status).toBe(409);
	expect(await audited('staff.removed', id)).toMatchObject([{ actor: actor() }]);
	expect((await owner.post('/owner/settings?/role', { id: String(id), role: 'cashier' })).status).toBe(409);

	const boss = await newOwner(fixture());
	await invite(email, 'cashier', boss);
	await browse(fixture().server.url).post(await linkTo(email, 2), { password: PASSWORD });
	expect(await accountOf(email)).toMatchObject({ employer_id: boss.accountId, staff_role: 'cashier' });
});

it('a person opens nothing who is suspended, was removed while signing in, or whose owner is none any more', async () => {
	const boss = await newOwner(fixture());
	const person = await newStaff(fixture(), boss, 'manager');
	const set = (change: string, { accountId }: Owner = person) =>
		fixture().sql.run(`update accounts set ${change} where id = ?`, accountId);
	const pages = ['/owner', '/owner/customers', '/owner/money', '/owner/money/export', '/owner/settings'];
	const expectRefused = async () => {
		for (const page of pages) expect([page, (await person.get(page)).status]).toEqual([page, 403]);
	};
	await set(`status = 'suspended'`);
	await expectRefused();
	await set(`status = 'active'`);
	await set(`role = 'app'`, boss);
	await expectRefused();
	await set('employer_id = null, staff_role = null');
	await expectRefused();
	expect((await person.get('/owner')).text).toContain('no longer on an owner’s staff');
});

it('a password from an earlier employment does not work for the next one', async () => {
	const email = 'shared@staff.example';
	await hire(email, 'manager');
	const employment = 'employer_id = null, staff_role = null';
	// As if the process had died between the removal and the end of the sign-in.
	await fixture().sql.run(`update accounts set ${employment} where email = ?`, email);
	const boss = await newOwner(fixture());
	await invite(email, 'manager', boss);
	const link = await linkTo(email, 2);
	const signIn = () =>
		browse(fixture().server.url).post('/owner/sign-in', { email, password: PASSWORD, next: '' });
	const next = 'another long enough password';
	expect((await browse(fixture().server.url).post(link, { password: next })).path).toBe('/owner');
	expect((await signIn()).status).toBe(400);
});

it('an administrator takes a person off the staff with another role', async () => {
	const email = 'freed@staff.example';
	const person = await hire(email, 'manager');
	const admin = await newOwner(fixture(), 'admin');
	const form = { role: 'app', note: 'Asked by the person' };
	await admin.post(`/admin/accounts/${await idOf(email)}?/role`, form);
	expect(await accountOf(email)).toMatchObject({ role: 'app', employer_id: null, staff_role: null });
	expect((await person.get('/owner')).path).toMatch(/^\/owner\/sign-in/);
});

it('staff have no pages of developers or administrators, and no API keys', async () => {
	const person = await newStaff(fixture(), owner, 'manager');
	for (const page of [
		'/developer/keys',
		'/developer/keys?/create',
		'/developer/account',
		'/developer/webhooks',
		'/admin'
	]) {
		expect([page, (await person.get(page)).status]).toEqual([page, 403]);
	}
	const made = await person.post('/developer/keys?/create', {
		name: 'mine',
		role: 'owner',
		expires: 'never'
	});
	expect(made.status).toBe(403);
	expect(
		await fixture().sql.count('select count(*) from api_keys where account_id = ?', person.accountId)
	).toBe(0);
});

it('staff of an administrator reach the routers of that person only, as that person does', async () => {
	const admin = await newOwner(fixture(), 'admin');
	const own = await addRouter(fixture(), admin.accountId);
	const person = await newStaff(fixture(), admin, 'manager');
	expect((await person.get(`/owner/routers/${own}`)).status).toBe(200);
	expect((await person.get(`/owner/routers/${router}`)).status).toBe(404);
	expect((await admin.get(`/owner/routers/${router}`)).status).toBe(404);
});

it('the audit log and the history name who acted', async () => {
	const manager = await newStaff(fixture(), owner, 'manager');
	const by = `account ${manager.accountId}`;
	const { session } = await fixture().buy({ router_id: router });
	await manager.post(`/owner/customers/${session.id}?/refund`, NOTE);
	await manager.post(`/owner/routers/${router}?/sales`, { do: 'pause' });
	await manager.post(`/owner/routers/${router}?/sales`, { do: 'reopen' });
	await manager.post(`/owner/routers/${router}?/price`, { price: '700', from: '500' });
	await manager.post('/owner/settings?/brand', { name: 'Ours', contact: '', which: 'none' });
	const log = await fixture().sql.all(
		`select distinct action from audit_log where actor = ? order by action`,
		by
	);
	expect(log.map(({ action }) => action)).toEqual(['payment.refund', 'router.paused', 'router.reopened']);
	const ids = [router, manager.accountId];
	const prices = 'select count(*) from price_changes where router_id = ? and account_id = ?';
	expect(await fixture().sql.count(prices, ...ids)).toBe(1);
	const brands = 'select count(*) from brands where account_id = ? and updated_by = ?';
	expect(await fixture().sql.count(brands, ...[owner.accountId, manager.accountId])).toBe(1);
	await manager.post('/owner/routers/new', {
		...{ name: 'Added', address: '', ssid: 'Net', lat: '0', lon: '0', price: '500' },
		access: 'portal_login nopass'
	});
	const added = `select count(*) from routers where name = 'Added' and owner_account_id = ?`;
	expect(await fixture().sql.count(added, owner.accountId)).toBe(1);
});

it('the pages show cashiers only what they may open', async () => {
	const cashier = await newStaff(fixture(), owner, 'cashier');
	const manager = await newStaff(fixture(), owner, 'manager');
	const { session } = await fixture().buy({ router_id: router });
	const placesIn = ({ html }: Page) =>
		[...(/<nav class="area-nav".*?<\/nav>/s.exec(html)?.[0] ?? '').matchAll(/href="([^"]*)"/g)].map(
			([, path]) => path
		);
	const home = await cashier.get('/owner');
	expect(placesIn(home)).toEqual(['/owner', '/owner/vouchers', '/owner/customers', '/owner/settings']);
	expect(home.html).not.toMatch(/href="[^"]*\/owner\/(money|customers\?|routers)/);
	expect(home.text).toContain('Today');
	// The other lists have customers of other days.
	const lists = '/owner/customers?group=expired';
	expect((await manager.get(lists)).html).toContain('<h2>Ended');
	const today = await cashier.get(lists);
	expect(today.text).toContain('Purchases today +256');
	expect(today.html).not.toContain('group=active');
	const purchase = await cashier.get(`/owner/customers/${session.id}`);
	expect(purchase.html).not.toContain('?/refund"');
	expect(purchase.text).toContain('For a refund, ask the owner or a manager.');
	expect((await manager.get('/owner/settings')).text).not.toContain('Staff');
	expect((await cashier.get('/owner/settings')).text).not.toContain('Your branding');
	expect((await manager.get(`/owner/customers/${session.id}`)).html).toContain('?/refund"');
	expect(placesIn(await owner.get('/owner'))).toEqual([
		...['/owner', '/owner/money', '/owner/customers', '/owner/routers', '/owner/settings']
	]);
	const refused = await cashier.get('/owner/money');
	expect([refused.status, refused.text]).toEqual([
		403,
		expect.stringContaining('Your role does not allow this.')
	]);
	expect(placesIn(refused)).toEqual(placesIn(home));
});
