/** An administrator looks at the pages of an owner: read-only, for a while, with a reason that the owner sees. */
import { beforeAll, expect, it } from 'vitest';
import { OWNER_ROUTES } from '#lib/server/web/owner/roles.ts';
import { numberEnding } from '../../support/api/api.ts';
import { signInAs, type Browsing, type Page } from '../../support/pages/browsing.ts';
import { addRouter, customerAt, newOwner, type Owner } from '../../support/pages/owners.ts';
import { addPrintedBatch } from '../../support/pages/vouchers.ts';
import { eventually, useFixture } from '../../support/server/fixture.ts';

const REASON = 'Sold time is missing, request 4711';
const MINUTE_MS = 60_000;

const fixture = useFixture({ database: 'sqlite' });
let admin: Browsing;
let adminId: number;
let owner: Owner;
let router: number;
let gateway: number;
let session: number;
let account: string;
let token: string;
let batch: number;

beforeAll(async () => {
	admin = await signInAs(fixture().server, 'admin');
	adminId = await fixture().sql.count("select id from accounts where email = 'admin@airtill.example'");
	owner = await newOwner(fixture());
	account = `/admin/accounts/${owner.accountId}`;
	router = await addRouter(fixture(), owner.accountId, { access_kind: 'portal_login', security: 'wpa' });
	const shop = await addRouter(fixture(), owner.accountId);
	const form = { kind: 'opennds', loginHost: '192.168.1.1', key: 'abcdefgh' };
	await owner.post(`/owner/routers/${router}/gateway`, form);
	gateway = await fixture().sql.count('select max(id) from gateways where router_id = ?', router);
	({ page: token, session } = await customerAt(fixture(), shop));
	batch = await addPrintedBatch(fixture().sql, owner.accountId, shop);
});

const start = () => admin.post(`${account}?/view`, { note: REASON });
const stop = () => admin.post(`${account}?/stop`);
const entries = () =>
	fixture().sql.all(
		`select actor, action, reason from audit_log where action like 'owner.view%' and after like ? order by id`,
		`{"account_id":${owner.accountId},%`
	);
const addressOf = (place: string) =>
	`/owner/${place}`
		.replace('[router]', String(router))
		.replace('[gateway]', String(gateway))
		.replace('[session]', String(session))
		.replace('[batch]', String(batch))
		.replace(/\/$/, '');
const PAGES = Object.entries(OWNER_ROUTES).filter(([route]) => !route.startsWith('[...'));

it('needs a reason, and an owner', async () => {
	const page = await admin.post(`${account}?/view`, { note: ' ' });
	expect(page).toMatchObject({ status: 400, text: expect.stringContaining('Reason: say why.') });
	const developer = await newOwner(fixture(), 'app');
	for (const id of [adminId, developer.accountId]) {
		const refused = await admin.post(`/admin/accounts/${id}?/view`, { note: REASON });
		expect(refused).toMatchObject({
			status: 409,
			text: expect.stringContaining("Only an owner's pages can be viewed.")
		});
	}
	expect(await entries()).toEqual([]);
	expect((await admin.get('/owner/settings')).html).not.toContain('?/stop');
});

it('shows each page as the owner sees it, with a banner and without secrets', async () => {
	expect((await start()).path).toBe('/owner');
	const secrets = await fixture().sql.all(
		'select secret_sealed, credentials_sealed from gateways where id = ?',
		gateway
	);
	for (const [place, { page }] of PAGES) {
		if (!page || place.endsWith('/export')) continue;
		const seen = await admin.get(addressOf(place));
		expect([place, seen.status]).toEqual([place, 200]);
		expect([place, seen.text]).toEqual([
			place,
			expect.stringMatching(
				new RegExp(`You are viewing the pages of \\W?${owner.email}\\W? until \\d\\d:\\d\\d\\. You cannot`)
			)
		]);
		expect(seen.html).toContain(`action="${account}?/stop"`);
		expect(seen.html).not.toContain('/sign-out"');
		// Forms of a page that stays open after the view must not act for the administrator. A search changes nothing.
		expect(seen.html.includes('<fieldset class="read-only" disabled')).toBe(place !== 'customers');
		expect(seen.html).not.toContain(token);
		for (const secret of Object.values(secrets[0] ?? {})) expect(seen.html).not.toContain(String(secret));
	}
	expect((await admin.get('/sw/owner')).text).toContain('Unaona kurasa za');
	const csv = await admin.get('/owner/money/export');
	expect(csv.text).not.toContain(numberEnding('008').slice(-9));
	await stop();
});

it('refuses every form, and nothing changes', async () => {
	await start();
	const stateOf = () =>
		Promise.all([
			fixture().sql.all('select * from routers order by id'),
			fixture().sql.all('select * from gateways order by id'),
			fixture().sql.all('select id, status, expires_at from sessions order by id'),
			fixture().sql.count('select count(*) from accounts'),
			fixture().sql.count('select count(*) from audit_log')
		]);
	const before = await stateOf();
	for (const [place, actions] of PAGES) {
		for (const action of Object.keys(actions).filter((name) => name !== 'page')) {
			const at = addressOf(place) + (action === 'default' ? '' : `?/${action}`);
			const refused = await admin.post(at, { note: REASON, email: 'x@staff.example', file: 'none' });
			expect([at, refused.status]).toEqual([at, 403]);
			expect(refused.text).toContain('This view is read-only.');
		}
	}
	expect(await stateOf()).toEqual(before);
	await stop();
});

it('ends with Stop: the owner sees both times and the reason, and the log has both', async () => {
	const logged = (await entries()).length;
	await start();
	expect((await admin.get(account)).text).toContain('Stop viewing');
	const during = await owner.get('/owner/settings');
	expect(during.text).toMatch(new RegExp(`Since .{5,20}, not ended yet Reason · ${REASON}`));
	const stopped = await stop();
	expect(stopped.text).toContain('The view has ended.');
	expect((await admin.get('/owner')).html).not.toContain('?/stop');
	expect((await admin.get(`/owner/customers/${session}`)).status).toBe(404);
	expect((await owner.get('/owner/settings')).text).toMatch(new RegExp(`until .{5,20} Reason · ${REASON}`));
	const by = { actor: `account ${adminId}`, reason: REASON };
	expect((await entries()).slice(logged)).toEqual([
		{ ...by, action: 'owner.view_started' },
		{ ...by, action: 'owner.view_ended' }
	]);
	await stop();
	expect(await entries()).toHaveLength(logged + 2);
});

it('is on a later page of the owner if there are more than 20', async () => {
	const other = await newOwner(fixture());
	const columns = 'account_id, admin_id, sign_in_session, reason, started_at, ends_at, ended_at';
	for (let count = 0; count < 41; count += 1) {
		await fixture().sql.run(
			`insert into owner_views (${columns}) values (?, ?, 'none', ?, 1, 2, 2)`,
			...[other.accountId, adminId, `View ${count};`]
		);
	}
	const shown = ({ text }: Page) => [...text.matchAll(/View (\d+);/g)].map(([, count]) => Number(count));
	const found: number[] = [];
	let next: string | undefined = '/owner/settings';
	for (const size of [20, 20, 1]) {
		const page: Page = await other.get(next ?? '');
		expect(shown(page)).toHaveLength(size);
		found.push(...shown(page));
		next = /href="([^"]+before=[^"]+)#views">Next/.exec(page.html)?.[1];
	}
	expect(next).toBeUndefined();
	expect(found).toEqual(Array.from({ length: 41 }, (_, index) => 40 - index));
});

it('ends after 30 minutes at the latest, and the log says so', async () => {
	const logged = (await entries()).length;
	await start();
	await fixture().server.advance(20 * MINUTE_MS);
	expect((await admin.get('/owner')).html).toContain('?/stop');
	await fixture().server.advance(10 * MINUTE_MS);
	expect((await admin.get('/owner')).html).not.toContain('?/stop');
	const ended = await eventually('the end is logged', async () => {
		const found = (await entries()).slice(logged);
		return found.length === 2 ? found : null;
	});
	expect(ended[1]).toEqual({ actor: 'airtill', action: 'owner.view_ended', reason: REASON });
});

it('belongs to one sign-in session: others of the administrator see their own pages', async () => {
	const elsewhere = await signInAs(fixture().server, 'admin');
	await start();
	expect((await elsewhere.get('/owner')).html).not.toContain('?/stop');
	expect((await elsewhere.post(`${account}?/stop`)).status).toBe(200);
	expect((await admin.get('/owner')).html).toContain('?/stop');
	await fixture().sql.run("update accounts set role = 'owner' where id = ?", adminId);
	expect((await admin.get('/owner')).html).not.toContain('?/stop');
	await fixture().sql.run("update accounts set role = 'admin' where id = ?", adminId);
	await stop();
});
