/** The command line: accounts, keys and usage. */
import { expect, it, describe } from 'vitest';
import { insertKey } from '../../../support/server/fixture.ts';
import { OWNER, usePlace, GOOD, HEADER, MAP } from './place.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { root } from '../../../support/server/server.ts';

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
	expect(await create()).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('20 active keys') });
	await sql.run('update api_keys set revoked_at = 1 where id = (select max(id) from api_keys)');
	expect((await create()).stdout.trim()).toMatch(KEY);
});

describe('airtill', () => {
	const place = usePlace('sqlite', false, { AIRTILL_DEMO: 'off' });

	it.each([
		[[], 'A command is missing.'],
		[['frobnicate'], 'Unknown command "frobnicate".'],
		[['routers'], 'Unknown command "routers".'],
		[['routers', 'drop'], 'Unknown command "routers drop"'],
		[['--verbose'], 'Unknown option "--verbose".'],
		[['gateways', 'list', '--all'], "Unknown option '--all'."],
		[['gateways', 'show'], 'NAME is missing.'],
		[['keys', 'create', '--account', OWNER, '--name', ' '], '--name is missing.']
	])('%j: says what is wrong, and the usage', async (args, message) => {
		const { code, stdout, stderr } = await place().run(...args);
		expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
		expect(stderr).toContain(message);
		expect(stderr).toContain('Usage: npm run --silent airtill -- ');
	});

	it.each([
		[['--help'], 'doctor'],
		[['routers', 'import', '--help'], '--skip-bad'],
		[['keys', 'create', '-h'], '--account EMAIL'],
		[['help', 'keys', 'create'], '--account EMAIL'],
		[['help'], 'doctor'],
		[['accounts', 'create', '-h'], ' create --email EMAIL --role app|owner|'],
		[['personal-data', 'export', '-h'], ' FILE.csv --phone NUMBER|--mac ADDRESS|--ip ADDRESS --from DATE ']
	])('%j: prints help', async (args, part) => {
		const { code, stdout, stderr } = await place().run(...args);
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
		expect(stdout).toContain(part);
	});

	it('routers import into an empty installation says how to make an owner', async () => {
		const { code, stderr } = await place().importing(HEADER + GOOD, ...MAP);
		expect(stderr).toContain('accounts create --email EMAIL --role owner');
		expect(code).toBe(1);
	});

	it('gateways list of an empty installation is its header alone', async () => {
		const { code, stdout } = await place().run('gateways', 'list');
		expect({ code, lines: stdout.split('\n') }).toEqual({
			code: 0,
			lines: [expect.stringMatching(/^NAME +KIND/), '']
		});
	});

	it('ends well when the reader of its output goes away (| true)', async () => {
		const child = spawn(process.execPath, [path.join(root, 'src/cli/airtill.js'), 'settings', 'list'], {
			env: place().env,
			stdio: ['ignore', 'pipe', 'pipe']
		});
		let stderr = '';
		child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
		child.stdout.destroy();
		const [code]: unknown[] = await once(child, 'close');
		expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
	});
});
