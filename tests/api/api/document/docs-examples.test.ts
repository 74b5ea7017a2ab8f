/** Runs the examples of the documentation as its pages show them. */
import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventExample } from '#lib/server/contract/examples.ts';
import { asJson, at } from '../../../support/api/document.ts';
import { page, type Html } from '../../../support/pages/pages.ts';
import { freePort } from '../../../support/server/ports.ts';
import { eventually, useFixture } from '../../../support/server/fixture.ts';

interface Result {
	code: number;
	stdout: string;
	stderr: string;
}

const output = fileURLToPath(new URL('../../../output', import.meta.url));
/** Inside the project, so that the programs find its packages. */
let folder = '';

beforeAll(() => {
	mkdirSync(output, { recursive: true });
	folder = mkdtempSync(path.join(output, 'docs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = (more: Record<string, string>) => ({ PATH: process.env['PATH'] ?? '', ...more });

async function run(command: string, args: string[], env: Record<string, string>): Promise<Result> {
	const child = spawn(command, args, {
		cwd: folder,
		env: environment(env),
		stdio: ['ignore', 'pipe', 'pipe'],
		timeout: 60_000
	});
	let [stdout, stderr] = ['', ''];
	child.stdout.on('data', (text: Buffer) => (stdout += text.toString()));
	child.stderr.on('data', (text: Buffer) => (stderr += text.toString()));
	const [code]: unknown[] = await once(child, 'close');
	return { code: Number(code), stdout, stderr };
}

function saved(text: string): string {
	const file = path.join(folder, `example-${Math.random().toString(36).slice(2)}.ts`);
	writeFileSync(file, text);
	return file;
}

const typescript = (text: string, key: string) => run(process.execPath, [saved(text)], { AIRTILL_KEY: key });
const python = (text: string, key: string) => run('python3', ['-c', text], { AIRTILL_KEY: key });
const php = (text: string, key: string) =>
	run('php', ['-r', text.replace('<?php', '')], { AIRTILL_KEY: key });

const shell = (text: string, key: string) =>
	run('sh', ['-c', text.replace(/^curl/, 'curl -sS')], { AIRTILL_KEY: key });

const hasProgram = (name: string) => spawnSync(name, ['--version']).status === 0;
/** CI must have curl and Python. */
const isSkipped = (name: string) => !process.env['CI'] && !hasProgram(name);
/** Samples in PHP are checked where PHP is installed. */
const hasPhp = hasProgram('php');
const hasNoCurl = isSkipped('curl');

const codeOf = ({ code }: Html, name: string): string => {
	const text = code.get(name);
	if (!text) throw new Error(`There is no code "${name}"`);
	return text;
};

const fixture = useFixture({ database: 'sqlite' });

describe('a first purchase', () => {
	it('in TypeScript orders and charges once when the first response to each call is lost', async () => {
		const { server, sql, newKey } = fixture();
		const { key, accountId } = await newKey();
		const seen = new Set<string>();
		const proxy = createServer((request, response) => {
			const { method = '', url = '', headers } = request;
			const passed = httpRequest(`${server.url}${url}`, { method, headers }, (answer) => {
				const isFirst = !seen.has(`${method} ${url}`);
				seen.add(`${method} ${url}`);
				// The request takes effect, but its response is lost.
				if (isFirst) response.destroy();
				else answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
			});
			request.pipe(passed);
		}).listen(0, '127.0.0.1');
		await once(proxy, 'listening');
		const address = proxy.address();
		const port = typeof address === 'object' ? address?.port : undefined;
		const text = codeOf(await page(server.url, '/docs/quickstart'), 'first-purchase.ts');
		expect(text).toContain(`'${server.url}/v1'`);
		const { code, stdout, stderr } = await typescript(
			text.replace(server.url, `http://127.0.0.1:${port}`).replace('+256772123456', '+256772123461'),
			key
		);
		proxy.close();
		expect(stderr).toBe('');
		expect(code).toBe(0);
		expect(stdout).toMatch(/: join \S+ with [a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/m);
		expect([...seen]).toContain('POST /v1/payments/mobile-money');
		expect(await sql.count('select count(*) from sessions where account_id = ?', accountId)).toBe(1);
	});

	it.for([
		['Python', 'python3', 'first_purchase.py', python],
		...(hasPhp ? ([['PHP', 'php', 'first-purchase.php', php]] as const) : [])
	] as const)(
		'in %s ends with a password, or prints the reason',
		async ([, program, name, execute], test) => {
			test.skip(isSkipped(program), `${program} is not installed`);
			const { server, newKey } = fixture();
			const { key } = await newKey();
			const text = codeOf(await page(server.url, '/docs/quickstart'), name);
			const bought = await execute(text.replace('+256772123456', `+25677222${program.length}456`), key);
			expect(bought.stderr).toBe('');
			expect(bought.stdout).toMatch(/: join \S+ with [a-z2-9]{4}-[a-z2-9]{4}-[a-z2-9]{4}$/m);
			const refused = await execute(text.replace("'2h'", "'2x'"), key);
			expect(refused.code).not.toBe(0);
			expect(refused.stdout + refused.stderr).toContain('validation_failed');
		}
	);

	it.skipIf(hasNoCurl)('with curl, call by call, ends with a password', async () => {
		const { server, newKey } = fixture();
		const { key } = await newKey();
		const start = await page(server.url, '/docs/quickstart');
		/** The reader's own number and ids; the router, prices and place are those of this installation. */
		const own = new Map([['+256772123456', '+256772123457']]);
		const step = async (number: number): Promise<Readonly<Record<string, unknown>>> => {
			let text = codeOf(start, `step ${number}`);
			for (const [shown, here] of own) text = text.replaceAll(shown, here);
			const { code, stdout, stderr } = await shell(text, key);
			expect(`${code} ${stderr}`).toBe('0 ');
			const answer: unknown = JSON.parse(stdout);
			return asJson(answer);
		};
		const list = at(await step(1), 'data') as { id: number; status: string; name: string }[];
		const order = await step(2);
		expect(order).toMatchObject({ status: 'pending_payment' });
		const router = list.find(({ id }) => id === order['router_id']);
		expect(router?.status).toBe('online');
		expect(codeOf(start, 'One router, shortened')).toContain(`"name": "${router?.name}"`);
		own.set('9001', String(order['id']));
		own.set('7001', String((await step(3))['id']));
		expect(await step(4)).toMatchObject({ status: 'success', applied: true });
		expect(await step(5)).toMatchObject({ status: 'active', password: expect.stringMatching(/^\S{14}$/) });
	});
});

describe('a receiver of webhooks', () => {
	const secret = `whsec_${Buffer.from('an example, not a real secret!!!').toString('base64')}`;
	const other = `whsec_${Buffer.from('another one, not real either !!!').toString('base64')}`;

	const byPackage = (id: string, at: Date, body: string, by = secret) => new Webhook(by).sign(id, at, body);
	const byHand = (id: string, at: Date, body: string, by = secret) => {
		const key = Buffer.from(by.slice('whsec_'.length), 'base64');
		const signed = `${id}.${Math.floor(at.getTime() / 1000)}.${body}`;
		return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
	};

	it.for([
		['with the package', 'receiver.ts', byHand, process.execPath],
		['without packages', 'receiver.ts without packages', byPackage, process.execPath],
		['in Python', 'receiver.py', byPackage, 'python3'],
		...(hasPhp ? ([['in PHP', 'receiver.php', byPackage, 'php']] as const) : [])
	] as const)('%s accepts genuine deliveries only', async ([, name, sign, program], test) => {
		test.skip(isSkipped(program), `${program} is not installed`);
		const { url } = fixture().server;
		const docs = await page(url, '/docs/webhooks');
		const body = JSON.stringify(eventExample('payment.success'));
		const port = String(await freePort());
		const file = saved(codeOf(docs, name));
		const child = spawn(program, program === 'php' ? ['-S', `127.0.0.1:${port}`, file] : [file], {
			cwd: folder,
			env: environment({ AIRTILL_WEBHOOK_SECRET: secret, PORT: port }),
			stdio: ['ignore', 'pipe', 'pipe']
		});
		let printed = '';
		// PHP logs to standard error.
		for (const stream of [child.stdout, child.stderr]) {
			stream.on('data', (text: Buffer) => (printed += text.toString()));
		}
		const send = async (sent: string, id: string, at: Date, signature: string) => {
			const response = await fetch(`http://127.0.0.1:${port}`, {
				method: 'POST',
				headers: {
					'webhook-id': id,
					'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
					'webhook-signature': signature
				},
				body: sent
			});
			return response.status;
		};
		try {
			if (program === 'python3') {
				const keyless = await run(program, [file], { AIRTILL_WEBHOOK_SECRET: '', PORT: '0' });
				expect(keyless.stderr).toBe('Set AIRTILL_WEBHOOK_SECRET.\n');
			}
			await eventually('the receiver listens', () =>
				fetch(`http://127.0.0.1:${port}`).then(
					() => true,
					() => false
				)
			);
			const [now, id] = [new Date(), 'evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF'];
			const old = new Date(now.getTime() - 6 * 60_000);
			const signature = sign(id, now, body);
			expect(await send(body, id, now, signature)).toBe(200);
			// During a rotation: the signature of the new secret, then ours.
			expect(await send(body, id, now, `${sign(id, now, body, other)} ${signature}`)).toBe(200);
			expect(await send(body.replace('1000', '9000'), id, now, signature)).toBe(400);
			expect(await send(body, 'evt_other', now, signature)).toBe(400);
			expect(await send(body, id, now, sign(id, now, body, other))).toBe(400);
			expect(await send(body, id, old, sign(id, old, body))).toBe(400);
			expect(await send(body, id, now, 'v1,')).toBe(400);
			const endless = { 'webhook-timestamp': '9'.repeat(400) };
			const refused = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: endless, body });
			expect(refused.status).toBe(400);
			await eventually(
				'the receiver printed both events',
				async () => printed.split('received').length === 3
			);
			expect(printed).toContain('payment.success');
		} finally {
			child.kill();
		}
	});
});
