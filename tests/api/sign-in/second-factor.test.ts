/** The second factor of the sign-in: six digits from an app, or a recovery code. Administrators need it with real money. */
import { describe, expect, it } from 'vitest';
import {
	browse,
	fieldValue,
	mailedLink,
	PASSWORD,
	signUp,
	someone,
	triesForgotten
} from '../../support/pages/browsing.ts';
import { setUpSecondFactor } from '../../support/pages/second-factor.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, SECRET, useFixture } from '../../support/server/fixture.ts';
import { startServer } from '../../support/server/server.ts';
import { openSql } from '../../support/database/sql.ts';

const ACCOUNT = '/developer/account';
const WRONG = 'This code is wrong.';

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const server = () => fixture().server;

	/** A person with a second factor, and a browser that has just sent the right password. */
	async function personAtCode() {
		await triesForgotten(fixture());
		const email = someone();
		const owner = await signUp(server(), email);
		const factor = await setUpSecondFactor(server(), owner, PASSWORD);
		const browser = browse(server().url);
		const asked = await browser.post('/developer/sign-in', { email, password: PASSWORD, next: ACCOUNT });
		return { email, owner, ...factor, browser, asked };
	}

	it('asks for a code after the password, and only the code signs in, once', async () => {
		const { email, app, browser, asked } = await personAtCode();
		expect(asked.path).toBe(`/developer/sign-in/code?next=${encodeURIComponent(ACCOUNT)}`);
		expect(asked.text).toContain('Enter your code');
		expect((await browser.get(ACCOUNT)).path).toContain('/developer/sign-in');
		const wrong = await browser.post(asked.path, { code: '12345', next: ACCOUNT });
		expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining(WRONG) });
		const code = app.code();
		const typed = { code: code.replace(/^.../, '$& '), next: ACCOUNT };
		const signedIn = await browser.post(asked.path, typed);
		expect(signedIn).toMatchObject({ status: 200, path: ACCOUNT });
		expect(signedIn.text).toContain(email);
		expect(signedIn.text).toContain('The second factor is on.');
		const again = browse(server().url);
		const { path } = await again.post('/developer/sign-in', { email, password: PASSWORD });
		expect((await again.post(path, { code })).text).toContain(WRONG);
		// Nobody is waiting any more.
		expect((await browse(server().url).get('/developer/sign-in/code')).path).toBe('/developer/sign-in');
	});

	it('shows the recovery codes once, keeps neither them nor the key in the clear, and takes each code once', async () => {
		const { email, owner, codes, page, browser, asked } = await personAtCode();
		expect(new Set(codes).size).toBe(10);
		expect(page.text).toContain('they are not shown again');
		const [row] = await fixture().sql.all('select * from sign_in_second_factors');
		expect(Object.values(row ?? {}).filter((value) => /^v1\./.test(String(value)))).toHaveLength(2);
		const rows = JSON.stringify(await fixture().sql.all('select * from sign_in_second_factors'));
		for (const text of [
			(await owner.get(ACCOUNT)).html,
			(await owner.post(`${ACCOUNT}?/confirm`)).html,
			rows
		])
			expect(codes.filter((one) => text.includes(one))).toEqual([]);
		const code = codes[3] ?? '';
		expect((await browser.post(asked.path, { code })).path).toBe('/developer/keys');
		const again = browse(server().url);
		const { path } = await again.post('/developer/sign-in', { email, password: PASSWORD });
		expect((await again.post(path, { code })).text).toContain(WRONG);
		expect((await again.post(path, { code: codes[4] ?? '' })).path).toBe('/developer/keys');
	});

	it('has five wrong codes, also with the right password in between; wrong passwords of strangers are not among them', async () => {
		const { email, app, browser } = await personAtCode();
		const stranger = browse(server().url);
		for (let count = 0; count < 4; count += 1) {
			const guess = { email, password: `guess number ${count}` };
			expect((await stranger.post('/developer/sign-in', guess)).status).toBe(400);
		}
		const statuses = [];
		let path = '';
		for (let count = 0; count < 6; count += 1) {
			const asked = await browser.post('/developer/sign-in', { email, password: PASSWORD });
			path = asked.status === 200 ? asked.path : path;
			statuses.push(asked.status, (await browser.post(path, { code: `00000${count}` })).status);
		}
		expect(statuses).toEqual([...Array.from({ length: 5 }, () => [200, 400]).flat(), 200, 429]);
		expect((await browser.post(path, { code: app.code() })).status).toBe(429);
	});

	it('is asked for after a password link too', async () => {
		const { email, app, browser } = await personAtCode();
		await browser.post('/developer/forgot', { email });
		const reset = await browser.post(await mailedLink(server(), email, 2), {
			password: 'another long password'
		});
		expect(reset.path).toMatch(/^\/developer\/sign-in\/code\?/);
		expect((await browser.get(ACCOUNT)).path).toContain('/developer/sign-in');
		expect((await browser.post(reset.path, { code: app.code() })).path).toBe('/developer/keys');
	});

	it('does not forget wrong codes for the right code of another account', async () => {
		const victim = await personAtCode();
		const { browser: attacker, app, asked } = await personAtCode();
		expect((await attacker.post(asked.path, { code: app.code() })).path).toBe('/developer/keys');
		const wrong = async () => (await victim.browser.post(victim.asked.path, { code: '000000' })).status;
		for (let count = 0; count < 5; count += 1) expect(await wrong()).toBe(400);
		expect(await wrong()).toBe(429);
		// better-call takes the first cookie of a name, and its blanks away.
		const session = attacker.cookies.get('airtill.session_token') ?? '';
		for (const name of ['airtill.session_token', 'airtill.session_token ']) {
			attacker.cookies.clear();
			attacker.cookies.set(name, session);
			for (const [own, value] of victim.browser.cookies) attacker.cookies.set(own, value);
			expect((await attacker.post(asked.path, { code: app.code() })).path).toBe('/developer/keys');
			expect(await wrong()).toBe(429);
		}
	});

	it('is set up and turned off with the password, works from its first code on, and ends sessions without one', async () => {
		await triesForgotten(fixture());
		const email = someone();
		const person = await signUp(server(), email);
		const signsIn = async () => {
			const other = browse(server().url);
			return (await other.post('/developer/sign-in', { email, password: PASSWORD })).path;
		};
		const thief = browse(server().url);
		await thief.post('/developer/sign-in', { email, password: PASSWORD });
		const refused = await person.post(`${ACCOUNT}?/factor`, { password: 'not this one' });
		expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('password is wrong') });
		const key = await person.post(`${ACCOUNT}?/factor`, { password: PASSWORD });
		expect(key.html).toMatch(/role="img"[^>]*>.*?<svg/s);
		const uri = fieldValue(key, 'uri');
		const secret = new URL(uri).searchParams.get('secret') ?? '';
		expect(key.text.replaceAll(' ', '')).toContain(secret);
		const wrong = await person.post(`${ACCOUNT}?/confirm`, { uri, code: 'abcdef' });
		expect(wrong.text).toContain(WRONG);
		expect(fieldValue(wrong, 'uri')).toBe(uri);
		expect(await signsIn()).toBe('/developer/keys');

		expect((await thief.get(ACCOUNT)).path).toBe(ACCOUNT);
		await setUpSecondFactor(server(), person, PASSWORD);
		expect((await thief.get(ACCOUNT)).path).toContain('/developer/sign-in');
		expect((await person.get(ACCOUNT)).path).toBe(ACCOUNT);
		expect(await signsIn()).toContain('/sign-in/code');
		expect((await person.post(`${ACCOUNT}?/stop`, { password: 'not this one' })).status).toBe(400);
		const off = await person.post(`${ACCOUNT}?/stop`, { password: PASSWORD });
		expect(off).toMatchObject({ path: `${ACCOUNT}?done=factor` });
		expect(await signsIn()).toBe('/developer/keys');
	});

	it('is set up and asked for in the language of the owner pages', async () => {
		await triesForgotten(fixture());
		const email = someone();
		await fixture().sql.run(
			`insert into accounts (email, role, plan, status, created_at) values (?, 'owner', 'default', 'active', 1)`,
			email
		);
		const owner = await signUp(server(), email);
		const { app, page } = await setUpSecondFactor(server(), owner, PASSWORD, '/fr/owner/settings');
		expect(page.text).toContain('Codes de secours');
		const browser = browse(server().url);
		const asked = await browser.post('/fr/owner/sign-in', { email, password: PASSWORD });
		expect(asked).toMatchObject({ path: '/fr/owner/sign-in/code?next=%2Fowner' });
		expect((await browser.post(asked.path, { code: app.code() })).path).toBe('/fr/owner');
	});

	it('is removed on the command line when the phone is lost, and the audit log says so', async () => {
		const { email } = await personAtCode();
		const remove = ['accounts', 'remove-second-factor', '--email', email];
		expect(await cli(remove, server())).toMatchObject({ code: 0 });
		expect(await cli(remove, server())).toMatchObject({
			code: 1,
			stderr: expect.stringContaining('has no second factor')
		});
		const audited = `select a.actor from audit_log a join accounts on a.after = '{"account_id":' || accounts.id || '}'
			where a.action = 'account.second_factor_removed' and accounts.email = ?`;
		expect(await fixture().sql.all(audited, email)).toEqual([{ actor: 'command line' }]);
		const browser = browse(server().url);
		const { path } = await browser.post('/developer/sign-in', { email, password: PASSWORD });
		expect(path).toBe('/developer/keys');
	});
});

describe('with real money', () => {
	it('an administrator sets it up before any other page or form', async () => {
		const server = await startServer({ env: { AIRTILL_MODE: 'live', AIRTILL_SECRET: SECRET } });
		const sql = await openSql(server.databaseUrl);
		try {
			const create = (email: string, role: string) =>
				cli(['accounts', 'create', '--email', email, '--role', role], server);
			const made = await create('admin@people.example', 'admin');
			await create('owner@people.example', 'owner');
			const ownerId = await sql.count(`select id from accounts where role = 'owner'`);
			const link = new URL((JSON.parse(made.stdout) as { invitation: string }).invitation);
			const admin = browse(server.url);
			const first = await admin.post(link.pathname + link.search, { password: PASSWORD });
			expect(first.path).toBe(ACCOUNT);
			expect(first.text).toContain('Administrators need a second factor.');

			const owner = `/admin/accounts/${ownerId}`;
			for (const path of ['/admin', owner, '/admin/audit/export', '/owner', '/developer/keys']) {
				expect((await admin.get(path)).path, path).toBe(ACCOUNT);
			}
			const note = { note: 'A reason' };
			for (const path of [`${owner}?/suspend`, `${owner}?/view`, '/developer/keys?/create']) {
				const answer = await admin.post(path, { ...note, name: 'Key', role: 'admin' });
				expect(answer.path, path).toBe(ACCOUNT);
			}
			expect(await sql.count('select count(*) from owner_views')).toBe(0);
			expect(await sql.count(`select count(*) from api_keys where role = 'admin'`)).toBe(0);

			await setUpSecondFactor(server, admin, PASSWORD);
			expect((await admin.get('/admin')).path).toBe('/admin');
			expect((await admin.post(`${owner}?/suspend`, note)).path).toContain(owner);
			expect(await sql.count(`select count(*) from accounts where status = 'suspended'`)).toBe(1);
		} finally {
			await sql.close();
			await server.stop();
		}
	});
});
