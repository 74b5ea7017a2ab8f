/** `accounts create` and `keys create`. */
import { expect, it } from 'vitest';
import { insertKey } from '../../../support/server/fixture.ts';
import { OWNER, usePlace } from './place.ts';

const KEY = /^atl_test_[0-9A-Za-z]{36}$/;

const place = usePlace('sqlite');

it('accounts create prints the account as JSON, in lower case', async () => {
	const args = ['--email', 'New@CLI.example', '--role', 'app', '--plan', 'enterprise'];
	const { code, stdout, stderr } = await place().run('accounts', 'create', ...args);
	expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
	expect(JSON.parse(stdout)).toEqual({
		id: expect.any(Number),
		email: 'new@cli.example',
		role: 'app',
		plan: 'enterprise',
		status: 'active',
		created_at: expect.stringMatching(/^\d{4}-.*Z$/)
	});
});

it.each([
	['an address that is taken', ['--email', OWNER.toUpperCase(), '--role', 'app'], 'is taken', 1],
	['an address that is none', ['--email', 'me@', '--role', 'app'], 'is not an email address: "me@"', 2],
	['an unknown role', ['--email', 'a@b.example', '--role', 'root'], '--role is one of app, owner, admin', 2],
	['an unknown plan', ['--email', 'a@b.example', '--role', 'app', '--plan', 'x'], '--plan is one of', 2],
	['no role', ['--email', 'a@b.example'], '--role is missing.', 2]
])('accounts create refuses %s', async (_, args, message, code) => {
	const before = await place().sql.count('select count(*) from accounts');
	const result = await place().run('accounts', 'create', ...args);
	expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(message) });
	expect(await place().sql.count('select count(*) from accounts')).toBe(before);
});

it('keys create prints the key alone, stores only its hash, and no more than the account may do', async () => {
	const { run, sql } = place();
	const made = await run('keys', 'create', '--account', OWNER, '--name', 'till', '--role', 'app');
	expect(made.code).toBe(0);
	expect(made.stdout).toMatch(/\n$/);
	expect(made.stdout.trimEnd()).toMatch(KEY);
	expect(made.stderr).not.toContain(made.stdout.trim());
	const [row] = await sql.all("select * from api_keys where name = 'till'");
	expect(row).toMatchObject({ role: 'app' });
	expect(JSON.stringify(row)).not.toContain(made.stdout.trim());

	const refused = await run('keys', 'create', '--account', OWNER, '--role', 'admin');
	expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('has the role owner') });
	const unknown = await run('keys', 'create', '--account', 'who@cli.example');
	expect(unknown).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('who@cli.example') });
});

it('an account has at most twenty active keys; one that was revoked makes room', async () => {
	const { run, sql } = place();
	await run('accounts', 'create', '--email', 'many@cli.example', '--role', 'app');
	const create = () => run('keys', 'create', '--account', 'many@cli.example');
	expect((await create()).stdout.trim()).toMatch(KEY);
	const id = await sql.count("select id from accounts where email = 'many@cli.example'");
	for (let key = 2; key <= 20; key += 1) await insertKey(sql, { accountId: id });
	expect(await create()).toEqual({
		code: 1,
		stdout: '',
		stderr: expect.stringContaining('20 active keys')
	});
	await sql.run('update api_keys set revoked_at = 1 where id = (select max(id) from api_keys)');
	expect((await create()).stdout.trim()).toMatch(KEY);
});
