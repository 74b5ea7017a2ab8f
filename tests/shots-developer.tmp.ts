import { mkdirSync, writeFileSync } from 'node:fs';
import { chromium } from '@playwright/test';
import { startServer } from './support/server.ts';
import { startReceiver } from './support/receiver.ts';
import { demoPassword } from './support/browsing.ts';
const out = '/tmp/shots-developer/';
mkdirSync(out, { recursive: true });
const receiver = await startReceiver();
receiver.reply('/hooks/failing', { status: 500, body: '{"error":"database is away"}' });
const server = await startServer({ env: { WEBHOOK_ALLOW_INSECURE: '1', RATE_LIMIT_DEFAULT: '100' } });
const url = `http://localhost:${server.port}`;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const only = process.argv[2] ? new RegExp(process.argv[2]) : /./;
try {
	const context = await browser.newContext();
	const page = await context.newPage();
	await page.goto(`${url}/developer/sign-in`);
	await page.getByLabel('E-mail address').fill('owner@airtill.example');
	await page.getByLabel('Password').fill(demoPassword(server, 'owner@airtill.example'));
	await page.getByRole('button', { name: 'Sign in', exact: true }).click();
	await page.waitForURL(/keys/);
	const keys: string[] = [];
	for (const [name, scopes] of [['Kiosk at the station', []], ['Partner app, reads only', ['routers:read', 'sessions:read']], ['Old till', []]] as const) {
		await page.goto(`${url}/developer/keys/new`);
		await page.getByLabel('Name').fill(name);
		for (const scope of scopes) await page.locator(`input[value="${scope}"]`).check();
		if (name.startsWith('Partner')) await page.getByLabel('After 90 days').check();
		await page.getByRole('button', { name: 'Make the key' }).click();
		keys.push((await page.locator('.secret').innerText()).trim());
	}
	const call = async (key: string, method: string, path: string, body?: unknown) =>
		(await fetch(url + path, { method, headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' }, ...(body ? { body: JSON.stringify(body) } : {}) })).json() as Promise<any>;
	const [a = '', b = ''] = keys;
	for (let i = 0; i < 4; i++) await call(a, 'GET', '/v1/routers?lat=0.3476&lon=32.5825');
	await call(b, 'GET', '/v1/sessions/77');
	await call(b, 'POST', '/v1/sessions', {});
	await page.goto(`${url}/developer/keys`);
	await page.getByRole('link', { name: /Revoke/ }).first().click();
	await page.getByRole('button', { name: 'Revoke the key' }).click();
	for (const [path, events] of [['/hooks/wifi', []], ['/hooks/failing', []]] as const) {
		void events;
		await page.goto(`${url}/developer/webhooks/new`);
		await page.getByLabel('Address on your server').fill(receiver.url + path);
		await page.getByRole('button', { name: 'Add the webhook' }).click();
		await page.getByRole('link', { name: 'Go to the webhook' }).click();
		await page.getByRole('button', { name: 'Send a test event' }).click();
		await page.waitForURL(/deliveries/);
	}
	const hook = new URL(page.url()).pathname.replace(/\/deliveries.*/, '');
	const delivery = new URL(page.url()).pathname;
	for (const phone of ['0772123456', '0772124001', '0772125002', '0772126009', '0772127003']) {
		const session = await call(a, 'POST', '/v1/sessions', { router_id: 3, duration: '1h', payment_method: 'mobile_money', phone });
		await call(a, 'POST', '/v1/payments/mobile-money', { session_id: session.id, amount: session.amount, phone });
	}
	await page.waitForTimeout(4500);
	await page.goto(`${url}/developer/payments`);
	await page.getByRole('button', { name: 'Start a test payment' }).click();
	const made = '__made';
	const pages: [string, string][] = [
		['keys', '/developer/keys'], ['new-key', '/developer/keys/new'], ['new-key-made', made], ['revoke', '/developer/keys/4/revoke'],
		['webhooks', '/developer/webhooks'], ['webhook-new', '/developer/webhooks/new'], ['webhook', hook], ['delivery', delivery],
		['webhook-remove', `${hook}/remove`], ['webhook-made', '__hook'], ['requests', '/developer/requests'], ['payments', '/developer/payments'], ['account', '/developer/account'],
		['sign-in', 'anon:/developer/sign-in'], ['sign-up', 'anon:/developer/sign-up'], ['sent', '__sent'], ['password', '__password'], ['stale', 'anon:/developer/password?token=x'], ['wrong', '__wrong']
	];
	const state = await context.storageState();
	let count = 0;
	for (const [name, path] of pages) {
		if (!only.test(name)) continue;
		const images: string[] = [];
		for (const [width, height, colorScheme] of [[360, 640, 'light'], [360, 640, 'dark'], [768, 1024, 'light'], [1280, 800, 'light'], [1280, 800, 'dark']] as const) {
			const anon = path.startsWith('anon:') || ['__sent', '__password', '__wrong'].includes(path);
			const shot = await browser.newContext({ viewport: { width, height }, colorScheme, ...(anon ? {} : { storageState: state }) });
			const one = await shot.newPage();
			if (path === made) {
				await one.goto(`${url}/developer/keys/new`);
				await one.getByLabel('Name').fill('Kiosk at the station');
				await one.getByRole('button', { name: 'Make the key' }).click();
			} else if (path === '__hook') {
				await one.goto(`${url}/developer/webhooks/new`);
				await one.getByLabel('Address on your server').fill(`${receiver.url}/x${width}${colorScheme}`);
				await one.getByRole('button', { name: 'Add the webhook' }).click();
			} else if (path === '__sent' || path === '__password') {
				const email = `ada${(count += 1)}@people.example`;
				await one.goto(`${url}/developer/sign-up`);
				await one.getByLabel('E-mail address').fill(email);
				await one.getByRole('button').click();
				await server.advance(61_000);
				if (path === '__password') {
					await one.waitForTimeout(300);
					const link = /(http:\S+token=\S+)/.exec(server.stdout().split(`To: ${email}`)[1] ?? '')?.[1] ?? '';
					await one.goto(link);
				}
			} else if (path === '__wrong') {
				await one.goto(`${url}/developer/sign-in`);
				await one.getByLabel('E-mail address').fill('x@y.example');
				await one.getByLabel('Password').fill('wrong');
				await one.getByRole('button', { name: 'Sign in', exact: true }).click();
				await server.advance(61_000);
			} else await one.goto(url + path.replace('anon:', ''));
			await one.waitForTimeout(150);
			const overflow = await one.evaluate(() => document.documentElement.scrollWidth - innerWidth);
			if (overflow > 0) console.log('OVERFLOW', name, width, overflow);
			const picture = await one.screenshot({ fullPage: true });
			writeFileSync(`${out}${name}-${width}-${colorScheme}.png`, picture);
			images.push(`<img src="data:image/png;base64,${picture.toString('base64')}" style="width:${width * 0.62}px">`);
			await shot.close();
		}
		const sheet = await browser.newPage({ viewport: { width: 2560, height: 400 } });
		await sheet.setContent(`<body style="margin:8px;display:flex;gap:8px;align-items:flex-start;background:#888">${images.join('')}</body>`);
		await sheet.screenshot({ path: `${out}sheet-${name}.png`, fullPage: true });
		await sheet.close();
	}
} finally {
	await browser.close();
	await server.stop();
	await receiver.stop();
}
