/** The pages of administrators: who sees them, and what the first one says. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { browse, fieldValue, signInAs, type Browsing } from '../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';
import { makeVouchers, redeem } from '../../support/pages/vouchers.ts';
import { registerRadius } from '../../support/gateways/gateways.ts';
import { cli } from '../../support/server/cli.ts';

const routes = fileURLToPath(new URL('../../../src/routes/(area)/admin', import.meta.url));

/** By folder: an address of the page, and its form actions ('' for the only one). */
const PLACES: Readonly<Record<string, readonly [page: string, actions?: readonly string[]]>> = {
	'': ['/admin'],
	accounts: ['/admin/accounts', ['']],
	'accounts/[id]': [
		'/admin/accounts/3',
		['invite', 'links', 'factor', 'suspend', 'restore', 'role', 'plan', 'view', 'stop']
	],
	audit: ['/admin/audit'],
	'audit/export': ['/admin/audit/export'],
	payments: ['/admin/payments?show=paid'],
	payouts: ['/admin/payouts?preview=1', ['create', 'approve', 'cancel', 'record', 'import']],
	'payouts/export': ['/admin/payouts/export'],
	reviews: ['/admin/reviews', ['']],
	'reviews/[id]': ['/admin/reviews/1', ['']],
	routers: ['/admin/routers'],
	'routers/import': ['/admin/routers/import', ['']],
	'routers/[id]': ['/admin/routers/1', ['price', 'disable', 'enable', 'confirm', 'withdraw', 'points']]
};

const PAGES = Object.values(PLACES).map(([page]) => page);
const ACTIONS = Object.values(PLACES).flatMap(([page, actions = []]) =>
	actions.map((name) => (name === '' ? page : `${page}?/${name}`))
);

const sourceOf = (folder: string) =>
	['+page.server.ts', '+server.ts']
		.filter((name) => readdirSync(path.join(routes, folder)).includes(name))
		.map((name) => readFileSync(path.join(routes, folder, name), 'utf8'))
		.join('');

it('are all listed here, and each load and action of them asks who calls', () => {
	const folders = readdirSync(routes, { recursive: true, withFileTypes: true })
		.filter(({ name }) => ['+page.svelte', '+page.server.ts', '+server.ts'].includes(name))
		.map(({ parentPath }) => path.relative(routes, parentPath));
	expect([...new Set(folders)].sort()).toEqual(Object.keys(PLACES).sort());
	for (const [folder, [, actions = []]] of Object.entries(PLACES)) {
		const source = sourceOf(folder);
		const written = /^export const actions\b.*?^\}|^export const actions\b.*$/ms.exec(source)?.[0] ?? '';
		const named = [...written.matchAll(/^\t(\w+): |\{ (default): /gm)].map(([, name, only]) => name ?? only);
		expect(named, folder).toEqual(actions.map((name) => name || 'default'));
		const asking = source.match(/\b(admin(Page|Form)|accountForm|routerForm|payoutForm)\(/g) ?? [];
		expect(asking.length, folder).toBe(1 + actions.length);
	}
});

describe('pages of administrators', () => {
	const fixture = useFixture({ database: DATABASES[0] });
	let entries: number;
	beforeAll(async () => {
		await fixture().sql.run(
			`insert into reviews (id, subject, reason, opened_at) values (1, 'mtn transaction', 'statement_unknown', 1)`
		);
		entries = await fixture().sql.count('select count(*) from audit_log');
	});

	/** Fields of all forms, so that only the caller is wrong. */
	const FIELDS = {
		...{ decision: 'dismiss', note: 'mine' },
		...{ email: 'new@refusals.example', role: 'admin', plan: 'enterprise' }
	};

	async function expectRefused(person: Browsing): Promise<void> {
		for (const page of PAGES) expect((await person.get(page)).status, page).toBe(403);
		for (const action of ACTIONS) {
			expect((await person.post(action, FIELDS)).status, action).toBe(403);
		}
		expect(await fixture().sql.count('select count(*) from audit_log')).toBe(entries);
	}

	it('lead to the sign-in page, and back', async () => {
		const person = browse(fixture().server.url);
		for (const page of PAGES) {
			expect((await person.get(page)).path).toBe(`/developer/sign-in?next=${encodeURIComponent(page)}`);
		}
		for (const action of ACTIONS) {
			const page = await person.post(action, FIELDS);
			expect([action, page.status, fieldValue(page, 'note')]).toEqual([action, 401, FIELDS.note]);
			expect(page.html).toContain('href="/developer/sign-in?next=%2Fadmin"');
			expect((await person.post(action)).path, action).toBe('/developer/sign-in?next=%2Fadmin');
		}
		expect(await fixture().sql.count('select count(*) from audit_log')).toBe(entries);
		const admin = await signInAs(fixture().server, 'admin');
		expect((await admin.get('/developer/sign-in?next=%2Fadmin%2Freviews')).path).toBe('/admin/reviews');
		const search = '/admin/audit?actor=ann%40example.org&from=2026-11-01';
		expect((await admin.get(`/developer/sign-in?next=${encodeURIComponent(search)}`)).path).toBe(search);
		const out = await admin.post('/developer/sign-out?next=/admin');
		expect(out.path).toBe('/developer/sign-in?next=/admin');
		expect(fieldValue(out, 'next')).toBe('/admin');
		const foreign = await admin.get('/developer/sign-in?next=https%3A%2F%2Felsewhere.example');
		expect(fieldValue(foreign, 'next')).toBe('/developer/keys');
	});

	it.each(['app', 'owner'] as const)('are refused to the role %s, and so are actions', async (role) => {
		await expectRefused(await signInAs(fixture().server, role));
	});

	it('begin with an overview of what doctor finds in stored data, and what to do', async () => {
		const { server, sql } = fixture();
		const admin = await signInAs(server, 'admin');
		const kind = { kind: 'hostapd', access: 'wpa_personal_per_client', router: 3 } as const;
		const { name } = await registerRadius(fixture(), kind);
		await sql.run(`update gateways set trouble = 'It refused our key.' where name = ?`, name);
		const finding = `${name}, last attempt: It refused our key`;
		const advice = 'Airtill tries again automatically';
		expect((await cli(['doctor'], server)).stdout).toContain(`warn gateways: ${finding} - ${advice}`);
		const { text } = await admin.get('/admin');
		expect(text).toContain(`gateways ${finding} What to do: ${advice}`);
		expect(text).toMatch(/\d+ checks passed/);
		expect(text).toContain('GiB free for');
		entries = await sql.count('select count(*) from audit_log');
	});

	it('are refused to an administrator whose account is suspended', async () => {
		const admin = await signInAs(fixture().server, 'admin');
		await fixture().sql.run(`update accounts set status = 'suspended' where email = 'admin@airtill.example'`);
		await expectRefused(admin);
		expect((await admin.get('/admin')).text).toContain('Your account is suspended.');
		await fixture().sql.run(`update accounts set status = 'active' where email = 'admin@airtill.example'`);
	});
});

describe.each(DATABASES)('the search for a payment, on %s', (database) => {
	const fixture = useFixture({ database });

	it('finds it by its number, by the transaction ID or its whole message, and by the whole phone number', async () => {
		const { buy, sql, server } = fixture();
		const { id: payment } = (await buy({ router_id: 3 })).payment;
		await buy({ router_id: 5 });
		const [row] = await sql.all('select phone, provider_reference from payments where id = ?', payment);
		const [phone, transaction] = [String(row?.['phone']), String(row?.['provider_reference'])];
		const admin = await signInAs(server, 'admin');
		const search = async (typed: string) =>
			(await admin.get(`/admin/payments?${new URLSearchParams({ q: typed }).toString()}`)).html;
		const links = (html: string) => [...html.matchAll(/audit\?payment=(\d+)"/g)].map(([, id]) => Number(id));
		const message = `You have paid UGX 500 to AIRTILL on 2026-11-28 at 10:20:31. Transaction ID: ${transaction.toLowerCase()}.`;
		for (const typed of [String(payment), transaction, message, phone, `0${phone.slice(4)}`]) {
			expect(links(await search(typed)), typed).toEqual([payment]);
		}
		for (const typed of ['999999', 'x', phone.slice(-4), 'K7MQ\u0000']) {
			expect(await search(typed), typed).toContain('No such payment.');
		}
		expect((await admin.get('/admin')).html).toMatch(/action="[^"]*admin\/payments"/);
		const empty = await admin.get('/admin/payments');
		expect(links(empty.html)).toEqual([]);
		expect(empty.text).not.toContain('No such payment.');
		expect((await admin.get('/admin/payments?show=x')).status).toBe(404);
	});

	it('finds a voucher, which no number paid', async () => {
		const { api, owner, server, sql } = fixture();
		const { codes } = await makeVouchers(owner, 7, 1);
		const { body } = await redeem(api, codes[0]?.code ?? '');
		const session = (body as { id: number }).id;
		const payment = await sql.count('select id from payments where session_id = ?', session);
		const admin = await signInAs(server, 'admin');
		const review = await admin.post('/admin/reviews', { payment: String(payment) });
		expect(review.path).toMatch(/^\/admin\/reviews\/\d+$/);
		for (const page of [`/admin/payments?q=${payment}`, '/admin/routers/7', review.path]) {
			const { text } = await admin.get(page);
			expect(text).toContain('UGX 1,000');
			expect(text).not.toContain('*****');
		}
	});
});
