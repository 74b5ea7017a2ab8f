/** Live mode: no test keys, no sandbox operator, no demo data, no start without a secret. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApi, numberEnding, type Api } from '../../../support/api/api.ts';
import { administratorOf } from '../../../support/pages/administrator.ts';
import { browse, PASSWORD } from '../../../support/pages/browsing.ts';
import { createKey, keyIn } from '../../../support/pages/keys.ts';
import { cli } from '../../../support/server/cli.ts';
import { startServer, type TestServer } from '../../../support/server/server.ts';
import { openSql, type Sql } from '../../../support/database/sql.ts';
import { insertKey, SECRET } from '../../../support/server/fixture.ts';

let server: TestServer;
let sql: Sql;
let live: Api;
let test: Api;

beforeAll(async () => {
	server = await startServer({ env: { AIRTILL_MODE: 'live', AIRTILL_SECRET: SECRET } });
	sql = await openSql(server.databaseUrl);
	const { accountId, key } = await insertKey(sql, { mode: 'live', role: 'owner' });
	live = createApi(server.url, key);
	test = createApi(server.url, (await insertKey(sql, { accountId, mode: 'test', role: 'owner' })).key);
	await sql.run(
		`insert into routers (owner_account_id, name, ssid, security, lat, lon, price_minor, currency, status,
			payment_methods, min_duration, max_duration, access_confirmed_at, created_at, updated_at)
			values (?, 'Real', 'Real', 'wpa', 0.3, 32.5, 500, 'UGX', 'online', '["mtn_momo"]', '15m', '30d', 0, 0, 0)`,
		accountId
	);
});
afterAll(async () => {
	await sql?.close();
	await server?.stop();
});

it('refuses a test key, though it is in the database, and takes a live one', async () => {
	await test.refused('401 invalid_api_key', 'GET', '/v1/routers/1');
	expect(await live.getRouter(1)).toMatchObject({ id: 1, name: 'Real' });
});

it('offers no sandbox method, and refuses an order that asks for it', async () => {
	expect((await live.getRouter(1)).payment_methods).not.toContain('sandbox');
	const body = { router_id: 1, duration: '1h', payment_method: 'sandbox', phone: numberEnding('001') };
	const problem = await live.refused('400 payment_method_not_supported', 'POST', '/v1/sessions', { body });
	expect(problem.payment_methods).not.toContain('sandbox');
});

it('accepts no order that no operator can carry', async () => {
	for (const payment_method of ['mobile_money', 'mtn_momo']) {
		const body = { router_id: 1, duration: '1h', payment_method, phone: numberEnding('001') };
		await live.refused('400 payment_method_not_supported', 'POST', '/v1/sessions', { body });
	}
});

it('has no demo data and prints no keys', async () => {
	expect(await sql.count('select count(*) from routers')).toBe(1);
	expect(await sql.count("select count(*) from accounts where email like '%airtill.example'")).toBe(0);
	expect(server.stdout()).not.toMatch(/atl_|Test numbers|Demo/);
});

it('keys are live keys, test keys are listed separately, and an invitation signs in without a mail server', async () => {
	const email = 'maker@people.example';
	const visitor = browse(server.url);
	for (const path of ['/developer/sign-up', '/developer/forgot']) {
		expect((await visitor.get(path)).text).toContain('This installation cannot send email.');
		expect((await visitor.post(path, { email })).status).toBe(503);
	}
	expect((await cli(['accounts', 'invite', '--email', email], server)).code).toBe(1);
	await cli(['accounts', 'create', '--email', email, '--role', 'owner'], server);
	const { stdout } = await cli(['accounts', 'invite', '--email', email.toUpperCase()], server);
	const link = new URL(stdout.trim());
	expect(link.origin).toBe(`http://localhost:${server.port}`);
	const page = await visitor.post(link.pathname + link.search, { password: PASSWORD });
	expect(page.path).toBe('/owner');
	const key = keyIn(await createKey(visitor, { role: 'owner' }));
	expect(key).toMatch(/^atl_live_/);
	const accountId = await sql.count('select id from accounts where email = ?', email);
	await insertKey(sql, { accountId, mode: 'test' });
	const { text } = await visitor.get('/developer/keys');
	expect(text).toMatch(/till at the station.*Ended keys.*atl_test_….*does not work here/);
	const used = browse(server.url);
	expect((await used.get(link.pathname + link.search)).text).toContain('This link does not work any more');
});

it('starts again with a demo account in its database: it has buyers', async () => {
	await sql.run(`insert into accounts (email, role, plan, status, created_at)
		values ('owner@airtill.example', 'owner', 'default', 'active', 0)`);
	await server.restart();
	expect(await live.getRouter(1)).toMatchObject({ id: 1 });
});

it('does not start without a secret, and says which variable is missing', async () => {
	const refused = await startServer({ env: { AIRTILL_MODE: 'live' } }).catch(String);
	expect(refused).toMatch(/^- AIRTILL_SECRET: is required in live mode/m);
	// The sentence alone, without the place in the code.
	expect(refused).not.toMatch(/^Error: The configuration|at loadConfig/m);
});

it('does not start with a database that has demo data, nor does doctor accept it', async () => {
	const sandbox = await startServer({ env: { AIRTILL_DEMO: 'on' } });
	try {
		const env = { ...sandbox.env, AIRTILL_MODE: 'live', AIRTILL_SECRET: SECRET };
		await expect(startServer({ database: sandbox.databaseUrl, env })).rejects.toThrow(
			'DATABASE_URL: live mode refuses a database with demo data.'
		);
		expect((await cli(['doctor'], { env })).stdout).toMatch(
			/^FAIL database: live mode refuses .* demo data/m
		);
	} finally {
		await sandbox.stop();
	}
});

it('pays out no test money that is in the database', async () => {
	const owner = await sql.count('select owner_account_id from routers where id = 1');
	const sell = async (operator: string, minor: number) => {
		const session = await sql.count(
			`insert into sessions (account_id, router_id, status, duration, duration_seconds, payment_method, phone,
				amount_minor, currency, ssid, payment_due_at, created_at, updated_at)
				values (?, 1, 'cancelled', '1h', 3600, 'mtn_momo', '+256772000000', ?, 'UGX', 'Real', 0, 0, 0) returning id`,
			...[owner, minor]
		);
		await sql.run(
			`insert into payments (session_id, account_id, operator, payment_method, reference, amount_minor, currency,
				phone, status, submit_state, applied, commission_basis_points, expires_at, paid_at, created_at, updated_at)
				values (?, ?, ?, 'mtn_momo', ?, ?, 'UGX', '+256772000000', 'success', 'accepted', 1, 0, 0, 1, 0, 0)`,
			...[session, owner, operator, `sale by ${operator}`, minor]
		);
	};
	await sell('sandbox', 5_000);
	await sell('mtn', 700);
	await sql.run(
		`insert into payouts (run, owner_account_id, method, address, operator, reference, amount_minor, currency, status,
			submit_state, created_by, created_at, approved_at, paid_at, updated_at)
			values ('test', ?, 'mtn_momo', '+256772000000', 'sandbox', 'test payout', 5000, 'UGX', 'paid',
			'accepted', 'account 1', 0, 1, 1, 0)`,
		owner
	);
	const admin = await administratorOf(server);
	const preview = await admin.get('/admin/payouts?preview=1');
	expect(preview.text.replaceAll('\u00a0', ' ')).toMatch(/UGX 700 \S+ has not said where to send it/);
});
