/** A network lab with Airtill: the built server on the router, openNDS with our configuration, and buyers. */
import { chromium, type Browser, type Page } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { ensureBrowser } from '../runner/browser.js';
import { numberEnding } from '../api/api.ts';
import { registerGateway, type Registered } from '../gateways/gateways.ts';
import { cli } from '../server/cli.ts';
import { startServer, type TestServer } from '../server/server.ts';
import { ROUTER_ADDRESS, startNetworkLab, until, type Device, type NetworkLab } from './network-lab.ts';
import { openSql, type Sql } from '../database/sql.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PORT = 3000;
const pageLimitMs = 30_000;
/** The internet checks of phones. */
export const PROBE = 'http://captive.apple.com/hotspot-detect.html';

export interface HotspotLab {
	lab: NetworkLab;
	server: TestServer;
	gateway: Registered;
	sql: Sql;
	/** The clients of openNDS. */
	clients(): Promise<Client[]>;
	/** A browser on a device. */
	open(device: Device): Promise<Buyer>;
	stop(): Promise<void>;
}

interface Client {
	mac: string;
	state: string;
	token: string;
	custom: string;
	session_end: string;
}

export interface Buyer {
	page: Page;
	/** Looks for the internet, as phones do, and buys 30 minutes on the page that comes; answers when they run. */
	buy(): Promise<void>;
	/** Pays for 30 minutes on a page of the gateway. */
	pay(address: string): Promise<void>;
	/** Looks for the internet again, and enters the code of the purchase on the page that comes. */
	returns(): Promise<void>;
	/** Ends the time on the page that is open. */
	end(): Promise<void>;
	text(): Promise<string>;
	close(): Promise<void>;
}

export async function startHotspotLab(more: string[] = ['--ndsctl', '/usr/bin/ndsctl']): Promise<HotspotLab> {
	const lab = await startNetworkLab(await ensureBrowser());
	let server: TestServer | null = null;
	let sql: Sql | null = null;
	const stop = async () => {
		await sql?.close();
		await server?.stop();
		await lab.stop();
	};
	try {
		server = await startServer({
			port: PORT,
			env: { ORIGIN: `http://${ROUTER_ADDRESS}:${PORT}`, PATH: lab.env['PATH'] ?? '' },
			on: {
				inside: [...lab.router.inside, 'env', '-C', root],
				host: ROUTER_ADDRESS,
				answers: async (url) => (await lab.request(url)).status === 200
			}
		});
		sql = await openSql(server.databaseUrl);
		const gateway = await registerGateway(server, 'opennds', { loginHost: ROUTER_ADDRESS, more });
		for (const { file, text } of await printedConfig(server, gateway)) {
			if (file.startsWith('/etc/opennds/') || file.startsWith('/usr/lib/opennds/')) lab.install(file, text);
		}
		await lab.startOpennds();
		return { lab, server, gateway, sql, stop, clients: () => clientsOf(lab), open };
	} catch (error) {
		await stop();
		throw error;
	}
}

/** The files of the configuration that our command prints. */
async function printedConfig(
	server: TestServer,
	gateway: Registered
): Promise<{ file: string; text: string }[]> {
	const { code, stdout, stderr } = await cli(['gateways', 'config', gateway.name], server);
	if (code !== 0) throw new Error(`gateways config: ${stderr}`);
	const parts = stdout.split(/^=== \d+\. .*?(?:\((\/[^()]+)\))?$/m).slice(1);
	return parts.flatMap((file, index) =>
		index % 2 === 0 && file ? [{ file, text: `${(parts[index + 1] ?? '').trim()}\n` }] : []
	);
}

async function clientsOf(lab: NetworkLab): Promise<Client[]> {
	// While openNDS works on another ndsctl, one of BinAuth for example, it answers without a list.
	const text = await until('ndsctl lists the clients', async () => {
		const output = await lab.ndsctl('json');
		return output.includes('{') && output;
	});
	const list = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as {
		clients: Record<string, Client>;
	};
	return Object.values(list.clients);
}

async function open(device: Device): Promise<Buyer> {
	const browser: Browser = await chromium.launch({
		executablePath: device.browser,
		args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
	});
	const page = await browser.newPage();
	page.setDefaultTimeout(pageLimitMs);
	// Phones probe until they are redirected: openNDS can have crashed and start again.
	const opensPortal = (address: string) =>
		until('the portal comes', () =>
			page.goto(address).then(
				() => page.url().includes('/splash/'),
				() => false
			)
		);
	const pay = async (address: string) => {
		await opensPortal(address);
		await page.getByRole('radio', { name: /^30 min/ }).check();
		await page.getByLabel('Your mobile-money number').fill(numberEnding('008'));
		await page.getByRole('button', { name: /^Pay/ }).click();
		await page.waitForURL(/\/s\/[\w-]{24}/);
	};
	let code = '';
	return {
		page,
		pay,
		async buy() {
			await pay(PROBE);
			await until('the purchase runs', async () =>
				(await page.innerText('body')).includes('Your Wi‑Fi is paid until')
			);
			code = await page.locator('.large').innerText();
		},
		async returns() {
			await opensPortal(PROBE);
			await page.getByRole('link', { name: 'Paid already? Do not pay again. Enter your code' }).click();
			await page.locator('input[name=code]').fill(code);
			await page.getByRole('button', { name: 'Open my purchase' }).click();
			await page.getByText('You are online.', { exact: true }).waitFor();
		},
		async end() {
			await page.getByText('End my time now').click();
			await page.getByRole('button', { name: 'Yes, end it' }).click();
		},
		text: () => page.innerText('body'),
		close: () => browser.close()
	};
}
