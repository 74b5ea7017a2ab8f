/** `accounts create`, and `keys create`, `list` and `revoke`. */
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
	const first = (await create()).stdout.trim();
	const id = await sql.count("select id from accounts where email = 'many@cli.example'");
	for (let key = 2; key <= 20; key += 1) await insertKey(sql, { accountId: id });
	expect(await create()).toEqual({
		code: 1,
		stdout: '',
		stderr: expect.stringContaining('20 active keys')
	});
	expect(await run('keys', 'revoke', first)).toMatchObject({ code: 0 });
	expect((await create()).stdout.trim()).toMatch(KEY);
});

it('keys revoke ends a key by its id, once', async () => {
	const { run } = place();
	await run('keys', 'create', '--account', OWNER, '--name', 'to end');
	const line = (await run('keys', 'list', '--account', OWNER)).stdout
		.split('\n')
		.find((text) => text.endsWith('to end'));
	expect(line).toMatch(/^\d+ +atl_test_…\w{4} +owner .* active +to end$/);
	const id = line?.split(' ')[0] ?? '';
	expect(await run('keys', 'revoke', id)).toMatchObject({ code: 0, stdout: '' });
	expect(await run('keys', 'revoke', id)).toMatchObject({ code: 1 });
	expect((await run('keys', 'list', '--account', OWNER)).stdout).toMatch(/ revoked +to end\n/);
	expect(await run('keys', 'revoke', 'atl_test_mistyped')).toMatchObject({ code: 1, stdout: '' });
});
