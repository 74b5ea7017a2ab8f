/** The command line as its users meet it: usage, help and exit codes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import process from 'node:process';
import { describe, expect, it } from 'vitest';
import { root } from '../../../support/server/server.ts';
import { GOOD, HEADER, MAP, OWNER, usePlace } from './place.ts';

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
