/** The way into the developer area: passwords and sessions; and who does not get in. */
import { beforeEach, describe, expect, it } from 'vitest';
import {
	browse,
	demoPassword,
	mailedLink,
	PASSWORD,
	signUp,
	someone,
	triesForgotten
} from '../../support/pages/browsing.ts';
import { DATABASES, useFixture } from '../../support/server/fixture.ts';

const hourMs = 60 * 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const server = () => fixture().server;
	/** Tries of one test must not count in the next. */
	beforeEach(() => triesForgotten(fixture()));

	describe('the sign-in', () => {
		it('says the same of a wrong password and of an unknown address', async () => {
			const person = browse(server().url);
			const [a, b] = [
				await person.post('/developer/sign-in', {
					email: 'app@airtill.example',
					password: 'not the password'
				}),
				await person.post('/developer/sign-in', {
					email: 'xyz@airtill.example',
					password: 'not the password'
				})
			];
			expect([a.status, b.status]).toEqual([400, 400]);
			expect(a.text).toBe(b.text);
			expect(a.text).toContain('The email address or the password is wrong.');
			expect(person.cookies.size).toBe(0);
		});

		it('works as long on an unknown address, or one without password, as on a wrong password', async () => {
			const [known, unknown, unconfirmed] = [someone(), someone(), someone()];
			await signUp(server(), known);
			const person = browse(server().url);
			await person.post('/developer/sign-up', { email: unconfirmed });
			await mailedLink(server(), unconfirmed);
			// Taken in turns, and the fastest of each counts: what the work itself takes, however busy the machine is.
			const fastest = new Map([known, unknown, unconfirmed].map((email) => [email, Infinity]));
			for (let count = 0; count < 4; count += 1) {
				for (const [email, least] of fastest) {
					const started = performance.now();
					const { status } = await person.post('/developer/sign-in', { email, password: 'not the password' });
					fastest.set(email, Math.min(least, performance.now() - started));
					expect(status).toBe(400);
				}
			}
			const usual = fastest.get(known) ?? 0;
			for (const email of [unknown, unconfirmed]) {
				// Without the work it would be a twentieth or less.
				expect(fastest.get(email)).toBeGreaterThan(usual / 8);
				expect(fastest.get(email)).toBeLessThan(usual * 8);
			}
		});

		it('lets nobody see pages or send their forms without it', async () => {
			const nobody = browse(server().url);
			for (const path of ['/developer', '/developer/keys', '/developer/requests', '/developer/account']) {
				expect((await nobody.get(path)).path).toMatch(/^\/developer\/sign-in(\?|$)/);
			}
			for (const path of ['/developer/account?/sessions', '/developer/account?/password']) {
				expect((await nobody.post(path)).path).toBe('/developer/sign-in');
			}
		});

		it('leads back to the page that was asked for, and never to another site', async () => {
			const email = 'app@airtill.example';
			const password = demoPassword(server(), email);
			for (const [next, path] of [
				['/developer/account', '/developer/account'],
				['//evil.example/x', '/developer/keys'],
				['https://evil.example/', '/developer/keys'],
				['/developer/../../evil', '/developer/keys']
			] as const) {
				const person = browse(server().url);
				expect((await person.post('/developer/sign-in', { email, password, next })).path).toBe(path);
			}
		});

		it('gives a cookie that script cannot read and that other sites do not send', async () => {
			const email = 'app@airtill.example';
			const response = await browse(server().url).raw('/developer/sign-in', {
				method: 'POST',
				body: new URLSearchParams({ email, password: demoPassword(server(), email) }),
				headers: { origin: server().url }
			});
			const [cookie = ''] = response.headers.getSetCookie();
			expect(cookie).toMatch(/^airtill\.session_token=/);
			expect(cookie).toMatch(/HttpOnly/i);
			expect(cookie).toMatch(/SameSite=Lax/i);
		});

		it('mails no address more than twice a minute', async () => {
			const person = browse(server().url);
			const email = someone();
			const statuses = [];
			for (let count = 0; count < 3; count += 1) {
				statuses.push((await person.post('/developer/sign-up', { email })).status);
			}
			expect(statuses).toEqual([200, 200, 429]);
		});
	});

	describe('sessions', () => {
		it('elsewhere are ended together, and those of other people are not', async () => {
			const email = someone();
			const [laptop, other] = [await signUp(server(), email), await signUp(server(), someone())];
			const phone = browse(server().url);
			await phone.post('/developer/sign-in', { email, password: PASSWORD });
			expect((await phone.get('/developer/keys')).path).toBe('/developer/keys');
			await laptop.post('/developer/account?/sessions');
			expect((await phone.get('/developer/keys')).path).toContain('/developer/sign-in');
			for (const left of [laptop, other]) {
				expect((await left.get('/developer/keys')).path).toBe('/developer/keys');
			}
		});

		it('end with the sign-out, also for a copy of the cookie', async () => {
			const person = await signUp(server(), someone());
			const copy = browse(server().url);
			for (const [name, value] of person.cookies) copy.cookies.set(name, value);
			expect((await copy.get('/developer/keys')).path).toBe('/developer/keys');
			await person.post('/developer/sign-out');
			expect((await copy.get('/developer/keys')).path).toContain('/developer/sign-in');
		});

		it('end 30 days after the sign-in, however often they are used', async () => {
			const person = await signUp(server(), someone());
			for (const day of [10, 20]) {
				await server().advance(10 * 24 * hourMs);
				expect((await person.get('/developer/keys')).path, `day ${day}`).toBe('/developer/keys');
			}
			await server().advance(10 * 24 * hourMs + 1000);
			expect((await person.get('/developer/keys')).path).toContain('/developer/sign-in');
		});

		it('end after two weeks without a visit', async () => {
			const person = await signUp(server(), someone());
			await server().advance(15 * 24 * hourMs);
			expect((await person.get('/developer/keys')).path).toContain('/developer/sign-in');
		});
	});

	it('a password is changed with the current one only', async () => {
		const email = someone();
		const person = await signUp(server(), email);
		const other = browse(server().url);
		await other.post('/developer/sign-in', { email, password: PASSWORD });
		const change = (current: string, wanted: string) =>
			person.post('/developer/account?/password', { current, wanted });
		expect((await change('not this one', 'another long password')).text).toContain(
			'The current password is wrong.'
		);
		expect((await change(PASSWORD, 'short')).text).toContain('Use at least 12 characters');
		expect((await change(PASSWORD, 'another long password')).path).toBe('/developer/account?done=password');
		expect((await other.get('/developer/keys')).path).toContain('/developer/sign-in');
		expect((await person.get('/developer/keys')).path).toBe('/developer/keys');
	});

	it('nothing of better-auth is reachable', async () => {
		const person = browse(server().url);
		for (const path of [
			'sign-in/email',
			'get-session',
			'two-factor/disable',
			'two-factor/verify-totp',
			'error'
		]) {
			expect((await person.raw(`/developer/${path}`)).status).toBe(404);
			const body = new URLSearchParams();
			const sent = await person.raw(`/developer/${path}`, {
				method: 'POST',
				body,
				headers: { origin: server().url }
			});
			expect([404, 405]).toContain(sent.status);
		}
	});
});

describe('with an https ORIGIN', () => {
	const ORIGIN = 'https://wifi.example';
	const fixture = useFixture({ env: { ORIGIN } });

	it('the cookie is for this host and https only, and browsers keep to https', async () => {
		const { server } = fixture();
		const email = 'app@airtill.example';
		const person = browse(server.url);
		const signedIn = await person.raw('/developer/sign-in', {
			method: 'POST',
			body: new URLSearchParams({ email, password: demoPassword(server, email) }),
			headers: { origin: ORIGIN }
		});
		const names = [];
		for (const cookie of signedIn.headers.getSetCookie()) {
			names.push(cookie.split('=')[0]);
			expect(cookie).toMatch(/; Secure/i);
			expect(cookie).toMatch(/; Path=\/(;|$)/i);
			expect(cookie).not.toMatch(/Domain=/i);
		}
		expect(names).toContain('__Host-airtill.session_token');
		expect(names.filter((name) => !name?.startsWith('__Host-'))).toEqual([]);
		expect((await person.get('/developer/keys')).path).toBe('/developer/keys');
		for (const path of ['/', '/developer/keys', '/v1/routers']) {
			const { headers } = await person.raw(path);
			expect(headers.get('strict-transport-security'), path).toBe('max-age=31536000');
		}
	});
});
