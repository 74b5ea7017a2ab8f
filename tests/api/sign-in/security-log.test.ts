/** The log says who got access and who was refused, with the request's id and without anything that was typed. */
import { describe, expect, it } from 'vitest';
import { browse, demoPassword, fieldValue, signInAs } from '../../support/pages/browsing.ts';
import { cli } from '../../support/server/cli.ts';
import { DATABASES, eventually, useFixture } from '../../support/server/fixture.ts';

const EMAIL = 'owner@airtill.example';
const SOURCE = { 'x-source': '203.0.113.200' };

describe.each(DATABASES)('on %s', (database) => {
	const env = { AIRTILL_LOG_LEVEL: 'info', ADDRESS_HEADER: 'x-source' };
	const fixture = useFixture({ database, env });
	const lines = () =>
		fixture()
			.server.stderr()
			.split('\n')
			.filter((line) => line.includes('"part":"security"'))
			.map((line) => JSON.parse(line) as Record<string, unknown>);
	/** The line of that request, or the newest one with that text. */
	const logged = (text: string, headers?: Headers) =>
		eventually(`the log says "${text}"`, async () =>
			lines().findLast(({ msg, request }) => {
				return msg === text && (headers === undefined || request === headers.get('x-request-id'));
			})
		);
	const accountId = (email: string) => fixture().sql.count('select id from accounts where email = ?', email);
	const audited = async (action: string) =>
		(await fixture().sql.all('select actor, after from audit_log where action = ? order by id', action)).map(
			({ actor, after }) => ({ actor, ...(JSON.parse(String(after)) as object) })
		);

	it('has refused and accepted sign-ins', async () => {
		const { server } = fixture();
		const person = browse(server.url);
		const typed = { email: EMAIL, password: 'not the right password' };
		const wrong = await person.post('/developer/sign-in', typed, SOURCE);
		expect(await logged('sign-in refused', wrong.headers)).toMatchObject({
			account: await accountId(EMAIL),
			by: 'password',
			reason: 'wrong password',
			network: '203.0.113.200'
		});
		const asAddress = { email: 'a password typed as the address', password: 'x' };
		const unknown = await person.post('/developer/sign-in', asAddress, SOURCE);
		expect(await logged('sign-in refused', unknown.headers)).toMatchObject({ account: null });
		await person.post('/developer/sign-in', { email: EMAIL, password: demoPassword(server, EMAIL) }, SOURCE);
		expect(await logged('signed in')).toMatchObject({ account: await accountId(EMAIL), by: 'password' });
		await person.post('/developer/sign-out', {}, SOURCE);
		expect(await logged('signed out')).toMatchObject({ account: await accountId(EMAIL) });
		for (const text of ['not the right password', 'a password typed', EMAIL]) {
			expect(server.stderr()).not.toContain(text);
		}
	});

	it('has refused API keys and roles, and pages for owners', async () => {
		const { server, newKey, sql } = fixture();
		const { key, accountId: account } = await newKey({ revokedAt: 1 });
		const call = (path: string, bearer: string) =>
			fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${bearer}`, ...SOURCE } });
		const revoked = await call('/v1/owner/earnings', key);
		const id = await sql.count('select id from api_keys where account_id = ?', account);
		expect(await logged('API request refused', revoked.headers)).toMatchObject({
			reason: `invalid_api_key: key ${id} is revoked`
		});
		const app = await newKey();
		const foreign = await call('/v1/owner/earnings', app.key);
		expect(foreign.status).toBe(403);
		expect(await logged('API request refused', foreign.headers)).toMatchObject({
			account: app.accountId,
			keyId: expect.any(Number),
			reason: 'owner_role_required'
		});
		const person = await signInAs(server, 'app');
		await person.get('/owner');
		expect(await logged('page refused')).toMatchObject({ account: await accountId('app@airtill.example') });
		for (const secret of [key, app.key]) expect(server.stderr()).not.toContain(secret);
	});

	it('has keys and accounts that people create or revoke; so does the audit log', async () => {
		const { server } = fixture();
		const person = await signInAs(server, 'app');
		const account = await accountId('app@airtill.example');
		const form = fieldValue(await person.get('/developer/keys?/create'), 'form');
		await person.post('/developer/keys?/create', { form, name: 'till', role: 'app', lifetime: 'never' });
		expect(await logged('API key created')).toMatchObject({ account });
		const keyId = await fixture().sql.count("select id from api_keys where name = 'till'");
		await person.post('/developer/keys?/revoke', { id: String(keyId) });
		expect(await logged('API key revoked')).toMatchObject({ account, keyId });
		const actor = `account ${account}`;
		const created = { actor, key_id: keyId, account_id: account, role: 'app', scopes: '[]' };
		expect(await audited('key.created')).toEqual([created]);
		expect(await audited('key.revoked')).toEqual([{ actor, key_id: keyId }]);

		await cli(['accounts', 'create', '--email', 'new@people.example', '--role', 'admin'], server);
		expect((await audited('account.created')).at(-1)).toEqual({
			actor: 'command line',
			account_id: await accountId('new@people.example'),
			role: 'admin',
			plan: 'default'
		});
	});
});

describe('behind a proxy without ADDRESS_HEADER', () => {
	const fixture = useFixture({});

	it('the log warns once that all buyers count as one network', async () => {
		const { server } = fixture();
		for (let count = 0; count < 3; count += 1) {
			await fetch(server.url, { headers: { 'x-forwarded-for': '203.0.113.1' } });
		}
		await eventually('the warning', async () => server.stderr().includes('ADDRESS_HEADER is not set'));
		expect(server.stderr().split('ADDRESS_HEADER is not set')).toHaveLength(2);
	});

	it('doctor warns when ORIGIN is https', async () => {
		const { server } = fixture();
		const env = { ...server.env, ORIGIN: 'https://wifi.example' };
		expect((await cli(['doctor'], { env })).stdout).toMatch(/^warn proxy: ADDRESS_HEADER is not set/m);
		const { stdout } = await cli(['doctor'], { env: { ...env, ADDRESS_HEADER: 'X-Forwarded-For' } });
		expect(stdout).not.toMatch(/^warn proxy/m);
	});
});
