/** API keys and the request log in the developer area. */
import { describe, expect, it } from 'vitest';
import {
	browse,
	fieldValue,
	signInAs,
	signUp,
	triesForgotten,
	type Browsing,
	type Fields,
	type Page,
	someone
} from '../../support/pages/browsing.ts';
import { createKey, KEY, keyIn } from '../../support/pages/keys.ts';
import { DATABASES, eventually, insertKey, runsAllOn, useFixture } from '../../support/server/fixture.ts';

const dayMs = 24 * 60 * 60_000;

describe.each(DATABASES)('on %s', (database) => {
	const fixture = useFixture({ database });
	const server = () => fixture().server;
	const person = async () => {
		await triesForgotten(fixture());
		return signUp(server(), someone());
	};
	const statusWith = async (key: string, path = '/v1/routers?lat=0.3476&lon=32.5825') => {
		const response = await fetch(`${server().url}${path}`, { headers: { authorization: `Bearer ${key}` } });
		await response.arrayBuffer();
		return response.status;
	};
	const idOf = (key: string) =>
		fixture().sql.count('select id from api_keys where hint = ?', `${key.slice(0, 9)}…${key.slice(-4)}`);
	const countOf = (name: string) => fixture().sql.count('select count(*) from api_keys where name = ?', name);

	it('a key is made once when its form is sent several times at the same moment', async () => {
		const maker = await person();
		const name = 'sent at once';
		const form = fieldValue(await maker.get('/developer/keys?/create'), 'form');
		const fields = { form, name, role: 'app', lifetime: 'never' };
		const pages = await Promise.all([1, 2, 3].map(() => maker.post('/developer/keys?/create', fields)));
		expect(pages.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
		expect(pages.filter(({ html }) => KEY.test(html))).toHaveLength(1);
		expect(await countOf(name)).toBe(1);
	});

	it('requests are filtered by status and key', async () => {
		const maker = await person();
		const [one, other] = [
			keyIn(await createKey(maker)),
			keyIn(await createKey(maker, { name: 'the other' }))
		];
		await statusWith(one);
		await statusWith(other, '/v1/sessions/987654321');
		await eventually('both are listed', async () => {
			const { text } = await maker.get('/developer/requests');
			return text.includes('GET /v1/sessions') && text.includes('GET /v1/routers');
		});
		const rows = async (query: string) =>
			(await maker.get(`/developer/requests?${query}`)).html.match(/class="call/g)?.length ?? 0;
		expect(await rows('')).toBe(2);
		expect(await rows('status=4')).toBe(1);
		expect(await rows('status=5')).toBe(0);
		expect(await rows(`key=${await idOf(one)}`)).toBe(1);
		expect(await rows(`key=${await idOf(one)}&status=4`)).toBe(0);
		expect(await rows('status=x&key=-1&before=1e3')).toBe(2);
	});

	if (!runsAllOn(database)) return;

	describe('a new key', () => {
		it('is shown once, works at once, and is known by its hint afterwards', async () => {
			const maker = await person();
			const page = await createKey(maker);
			expect(page).toMatchObject({ status: 200, path: '/developer/keys?/create' });
			const key = keyIn(page);
			expect(key).toMatch(/^atl_test_/);
			expect(await statusWith(key)).toBe(200);
			const list = await maker.get('/developer/keys');
			expect(list.text).toContain('till at the station');
			expect(list.text).toContain(`atl_test_…${key.slice(-4)}`);
			expect(list.html).not.toContain(key);
			expect((await maker.get('/developer/keys?/create')).html).not.toMatch(KEY);
			const rows = await fixture().sql.all('select * from api_keys');
			expect(JSON.stringify(rows)).not.toContain(key);
		});

		it('ends when it expires', async () => {
			const maker = await person();
			const key = keyIn(await createKey(maker, { lifetime: '30' }));
			expect(await statusWith(key)).toBe(200);
			await server().advance(30 * dayMs + 1000);
			expect(await statusWith(key)).toBe(401);
		});

		it.each<[string, Fields, string]>([
			['no name', { name: '  ' }, 'Give the key a name.'],
			['a name of ours', { name: 'airtill:portal' }, 'are reserved'],
			['a role beyond its account', { role: 'admin' }, 'Choose one of the roles of your account.'],
			['a scope beyond its account', { scope: 'owner:write' }, 'Choose scopes that your account allows'],
			['another form', { form: 'x' }, 'This form is damaged.']
		])('is refused with %s', async (_what, fields, words) => {
			const maker = await person();
			const before = await fixture().sql.count('select count(*) from api_keys');
			const page = await createKey(maker, fields);
			expect(page.status).toBe(400);
			expect(page.text).toContain(words);
			expect(page.html).not.toMatch(KEY);
			expect(await fixture().sql.count('select count(*) from api_keys')).toBe(before);
		});

		it('is refused with the entries of its form', async () => {
			const maker = await person();
			const fields = { name: 'without a lifetime', scope: 'routers:read', lifetime: '' };
			const page = await createKey(maker, fields);
			expect(page.status).toBe(400);
			expect(page.text).toContain('Choose when the key expires.');
			expect(page.html).toMatch(/<title>Please check: /);
			expect(page.html).toContain('value="without a lifetime"');
			expect(page.html).toMatch(/value="routers:read"[^>]* checked/);
		});

		it('of an owner may be of role app, and then cannot have an owner’s scopes', async () => {
			await triesForgotten(fixture());
			const owner = await signInAs(server(), 'owner');
			const page = await createKey(owner, { role: 'app', scope: 'owner:read' });
			expect(page.text).toContain('The role app does not allow these scopes.');
			const key = keyIn(await createKey(owner, { role: 'owner', scope: 'owner:read' }));
			expect(await statusWith(key, '/v1/owner/earnings?period=daily')).toBe(200);
		});

		it('is the twentieth at most', async () => {
			const maker = await person();
			const first = keyIn(await createKey(maker));
			const accountId = await fixture().sql.count(
				'select account_id from api_keys where id = ?',
				await idOf(first)
			);
			for (let count = 1; count < 20; count += 1) await insertKey(fixture().sql, { accountId });
			const page = await createKey(maker);
			expect(page.status).toBe(400);
			expect(page.text).toContain('An account can have 20 active keys. Revoke one first.');
		});

		it('is not given to a suspended account, which sees why', async () => {
			const email = someone();
			await triesForgotten(fixture());
			const maker = await signUp(server(), email);
			await fixture().sql.run(`update accounts set status = 'suspended' where email = ?`, email);
			expect((await maker.get('/developer/keys')).text).toContain('This account is suspended.');
			expect((await maker.get('/developer/keys')).html).not.toContain('?/create');
			const sent = { form: 'x'.repeat(24), name: 'mine', role: 'app', lifetime: 'never' };
			const page = await maker.post('/developer/keys?/create', sent);
			expect(page.status).toBe(403);
			expect(page.html).not.toMatch(KEY);
		});
	});

	describe('revoking a key', () => {
		const revoke = (browser: Browsing, id: number) =>
			browser.post('/developer/keys?/revoke', { id: String(id) });

		it('ends it within five seconds', async () => {
			const maker = await person();
			const key = keyIn(await createKey(maker, { name: 'lost till', scope: 'routers:read' }));
			expect([await statusWith(key), await statusWith(key, '/v1/sessions/1')]).toEqual([200, 403]);
			expect((await revoke(maker, await idOf(key))).text).toContain('lost till is revoked.');
			await server().advance(5_000);
			expect(await statusWith(key)).toBe(401);
		});

		it('of another account is refused, and so is one of Airtill’s own', async () => {
			const [maker, thief] = [await person(), await person()];
			const key = keyIn(await createKey(maker));
			expect((await revoke(thief, await idOf(key))).status).toBe(404);
			expect(await statusWith(key)).toBe(200);
			await triesForgotten(fixture());
			const demo = await signInAs(server(), 'app');
			const own = await fixture().sql.count(`select id from api_keys where name = 'airtill:demo app'`);
			expect((await revoke(demo, own)).status).toBe(404);
			expect((await demo.get('/developer/keys')).text).not.toContain('airtill:');
			expect(
				await fixture().sql.count('select count(*) from api_keys where id = ? and revoked_at is null', own)
			).toBe(1);
		});

		it('needs a sign-in, and a form of our own', async () => {
			const maker = await person();
			const key = keyIn(await createKey(maker));
			const [path, fields] = ['/developer/keys?/revoke', { id: String(await idOf(key)) }] as const;
			expect((await browse(server().url).post(path, fields)).status).toBe(401);
			expect((await maker.post(path, fields, { origin: 'https://evil.example' })).status).toBe(403);
			expect(await statusWith(key)).toBe(200);
		});
	});

	describe('requests', () => {
		it('come in pages of 50', async () => {
			const maker = await person();
			const key = keyIn(await createKey(maker));
			for (let count = 0; count < 60; count += 1) await statusWith(key);
			const first = await eventually('more than a page is listed', async () => {
				const page = await maker.get('/developer/requests');
				return page.text.includes('Older') && page;
			});
			const older = /href="([^"]*before=\d+)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? '';
			const ids = async (page: Page) => page.html.match(/req_\w+/g) ?? [];
			const last = await eventually('the rest is listed', async () => {
				const page = await maker.get(older);
				return (await ids(page)).length === 10 && page;
			});
			expect(new Set([...(await ids(first)), ...(await ids(last))]).size).toBe(60);
			expect(last.text).toContain('Newest');
		});

		it('of other accounts are not shown, whatever key is asked for', async () => {
			const [maker, other] = [await person(), await person()];
			const key = keyIn(await createKey(maker));
			await statusWith(key);
			await eventually('it is listed', async () =>
				(await maker.get('/developer/requests')).text.includes('/v1/routers')
			);
			const seen = await other.get(`/developer/requests?key=${await idOf(key)}`);
			expect(seen.text).toContain('No requests yet.');
		});
	});
});
