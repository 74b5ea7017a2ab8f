/** Links by mail, by which a person signs up or chooses another password. */
import { beforeEach, describe, expect, it } from 'vitest';
import {
	browse,
	mailedLink,
	PASSWORD,
	signUp,
	someone,
	triesForgotten
} from '../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const hourMs = 60 * 60_000;

describe.each(DATABASES)('a link by mail, on %s', (database) => {
	const fixture = useFixture({ database });
	const server = () => fixture().server;
	/** Tries of one test must not count in the next. */
	beforeEach(() => triesForgotten(fixture()));

	it('signs up: its reader chooses a password, is signed in, and has an account of role app', async () => {
		const email = someone();
		const person = browse(server().url);
		const sent = await person.post('/developer/sign-up', { email });
		expect(sent.status).toBe(200);
		expect(sent.text).toContain(`If ${email} can have an account here, we have sent a link`);
		const link = await mailedLink(server(), email);
		expect((await person.get(link)).text).toContain(`For ${email}.`);
		const first = await person.post(link, { password: PASSWORD });
		expect(first).toMatchObject({ status: 200, path: '/developer/keys' });
		expect(
			await fixture().sql.all('select email, role, plan, status from accounts where email = ?', email)
		).toEqual([{ email, role: 'app', plan: 'default', status: 'active' }]);
	});

	it('leads to the account that was made on the command line, with its role', async () => {
		const email = someone();
		await fixture().sql.run(
			`insert into accounts (email, role, plan, status, created_at) values (?, 'owner', 'enterprise', 'active', 1)`,
			email
		);
		const person = await signUp(server(), email.toUpperCase().toLowerCase());
		const { text } = await person.get('/developer/account');
		expect(text).toContain('Role owner');
		expect(text).toContain('Rate plan enterprise');
	});

	it('of an address that never opened it gives nobody anything', async () => {
		const email = someone();
		const stranger = browse(server().url);
		// The stranger types another person's address, with a password of their own.
		await stranger.post('/developer/sign-up', { email, password: PASSWORD });
		await mailedLink(server(), email);
		const refused = await stranger.post('/developer/sign-in', { email, password: PASSWORD });
		expect(refused.status).toBe(400);
		expect(await fixture().sql.count('select count(*) from accounts where email = ?', email)).toBe(0);
		// The owner of the address comes later and alone decides on the password.
		const owner = browse(server().url);
		await owner.post(await mailedLink(server(), email), { password: 'the owner has this one' });
		expect((await stranger.post('/developer/sign-in', { email, password: PASSWORD })).status).toBe(400);
		expect((await owner.get('/developer/account')).text).toContain(email);
	});

	it('that is forged does not work, just like a used one', async () => {
		for (const token of ['a%00b', '%FF', "'", '%F0%9F%94%91', 'a'.repeat(2000)]) {
			const person = browse(server().url);
			const page = await person.get(`/developer/password?token=${token}`);
			expect(page).toMatchObject({
				status: 200,
				text: expect.stringContaining('This link does not work any more')
			});
			const refused = await person.post(`/developer/password?token=${token}`, { password: PASSWORD });
			expect(refused.status).toBe(400);
		}
	});

	it('works once, for an hour', async () => {
		const email = someone();
		const person = await signUp(server(), email);
		const used = await mailedLink(server(), email);
		expect((await person.get(used)).text).toContain('This link does not work any more');
		expect((await person.post(used, { password: PASSWORD })).status).toBe(400);

		await person.post('/developer/forgot', { email });
		const old = await mailedLink(server(), email, 2);
		await server().advance(hourMs + 1000);
		expect((await person.get(old)).text).toContain('This link does not work any more');
		expect((await person.post(old, { password: 'another long password' })).status).toBe(400);
		const fresh = browse(server().url);
		expect((await fresh.post('/developer/sign-in', { email, password: PASSWORD })).path).toBe(
			'/developer/keys'
		);
	});

	it('does not work after another one has set the password, or the person changed it', async () => {
		const email = someone();
		const person = await signUp(server(), email);
		await triesForgotten(fixture());
		for (let count = 0; count < 2; count += 1) await person.post('/developer/forgot', { email });
		const [older, newer] = [await mailedLink(server(), email, 2), await mailedLink(server(), email, 3)];
		await person.post(newer, { password: 'another long password' });
		expect((await person.get(older)).text).toContain('This link does not work any more');
		expect((await person.post(older, { password: PASSWORD })).status).toBe(400);

		await triesForgotten(fixture());
		await person.post('/developer/forgot', { email });
		const unused = await mailedLink(server(), email, 4);
		const passwords = { current: 'another long password', wanted: 'a third long password' };
		const changed = await person.post('/developer/account?/password', passwords);
		expect(changed.path).toBe('/developer/account?done=password');
		expect((await person.get(unused)).text).toContain('This link does not work any more');
	});

	it('ends every earlier sign-in when it sets another password', async () => {
		const email = someone();
		const before = await signUp(server(), email);
		const person = browse(server().url);
		await person.post('/developer/forgot', { email });
		await person.post(await mailedLink(server(), email, 2), { password: 'another long password' });
		expect((await before.get('/developer/keys')).path).toContain('/developer/sign-in');
		await triesForgotten(fixture());
		const again = browse(server().url);
		expect((await again.post('/developer/sign-in', { email, password: PASSWORD })).status).toBe(400);
		const path = (await again.post('/developer/sign-in', { email, password: 'another long password' })).path;
		expect(path).toBe('/developer/keys');
	});

	it('that an owner asks for is in the language of the page', async () => {
		const email = someone();
		await fixture().sql.run(
			`insert into accounts (email, role, plan, status, created_at) values (?, 'owner', 'default', 'active', 1)`,
			email
		);
		const owner = browse(server().url);
		expect((await owner.get('/fr/owner/sign-in')).html).toContain('href="/fr/owner/forgot"');
		const sent = await owner.post('/fr/owner/forgot', { email });
		expect(sent.text).toContain('Consultez vos e-mails');
		const link = await mailedLink(server(), email);
		expect(link).toMatch(/^\/owner\/password\?token=/);
		expect(server().stdout()).toContain('Choisissez votre mot de passe Airtill');
		expect((await owner.post(link, { password: PASSWORD })).path).toBe('/owner');
	});

	it('is asked for with the same answer for known and unknown addresses', async () => {
		const known = someone();
		await signUp(server(), known);
		const person = browse(server().url);
		for (const path of ['/developer/sign-up', '/developer/forgot']) {
			await triesForgotten(fixture());
			const [one, other] = [known, someone()];
			const pages = [await person.post(path, { email: one }), await person.post(path, { email: other })];
			const [a, b] = pages.map(({ status, text }, index) => ({
				status,
				text: text.replaceAll([one, other][index] ?? '', 'X')
			}));
			expect(a).toEqual(b);
		}
	});

	it('goes to no address that has no account, when a password was forgotten', async () => {
		const [unknown, later] = [someone(), someone()];
		const person = browse(server().url);
		await person.post('/developer/forgot', { email: unknown });
		await person.post('/developer/sign-up', { email: later });
		await mailedLink(server(), later);
		expect(server().stdout()).not.toContain(unknown);
	});

	it('takes no short or common password', async () => {
		const email = someone();
		const person = browse(server().url);
		await person.post('/developer/sign-up', { email });
		const link = await mailedLink(server(), email);
		for (const [password, reason] of [
			['short', 'Use at least 12 characters'],
			['password1234', 'lists that attackers try first']
		] as const) {
			const refused = await person.post(link, { password });
			expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(reason)]);
		}
		expect((await person.post(link, { password: PASSWORD })).path).toBe('/developer/keys');
	});
});
