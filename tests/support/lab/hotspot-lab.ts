/** A network lab with Airtill: the built server on the router, openNDS with our configuration, and buyers. */
import { chromium, type Browser, type Page } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import { ensureBrowser } from '../programs.js';
import { numberEnding } from '../api/api.ts';
import { registerGateway, type Registered } from '../gateways/gateways.ts';
import { sha256 } from '../gateways/opennds.ts';
import { cli } from '../server/cli.ts';
import { startServer, type TestServer } from '../server/server.ts';
import { ROUTER_ADDRESS, startNetworkLab, until, type Device, type NetworkLab } from './network-lab.ts';
import { openSql, type Sql } from '../database/sql.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const PORT = 3000;
const pageLimitMs = 90_000;
/** The internet checks of phones. */
export const PROBE = 'http://captive.apple.com/hotspot-detect.html';

export interface HotspotLab {
	lab: NetworkLab;
	server: TestServer;
	gateway: Registered;
	sql: Sql;
	/** The clients of openNDS. */
	clients(): Promise<Client[]>;
	/** Sells as at level 4. openNDS 9 cannot fetch the list itself, but its script reports what `ndsctl auth` lets in. */
	setLevel4(): Promise<void>;
	/** The first words on the list of level 4, with which authmon calls `ndsctl auth`; false if the list is empty. */
	authmonItem(device: Device): Promise<string[] | false>;
	/** A request of authmon, which anyone can send. @returns the text of the response */
	askAsAuthmon(device: Device, payload: string): Promise<string>;
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
	/** Pays for 30 minutes on a page of the gateway. @returns the address of the purchase */
	pay(address: string): Promise<string>;
	/** Looks for the internet again, and enters the code of the purchase on the page that comes. */
	returns(): Promise<void>;
	text(): Promise<string>;
	close(): Promise<void>;
}

export async function startHotspotLab(): Promise<HotspotLab> {
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
		const gateway = await registerGateway(server, 'opennds', { loginHost: ROUTER_ADDRESS });
		for (const { file, text } of await printedConfig(server, gateway)) {
			if (file.startsWith('/etc/opennds/') || file.startsWith('/usr/lib/opennds/')) lab.install(file, text);
		}
		await lab.startOpennds();
		const { key, name } = gateway;
		const list = `${server.url}/splash/${key}?auth_get=view&gatewayhash=${sha256(name)}`;
		const database = sql;
		const askAsAuthmon = async (device: Device, payload: string) =>
			(await device.get(`${list}&payload=${Buffer.from(payload).toString('base64')}`)).body;
		return {
			...{ lab, server, gateway, sql, stop, askAsAuthmon },
			open: (device) => open(lab, device),
			clients: () => clientsOf(lab),
			setLevel4: () =>
				database.run('update gateways set settings = ? where name = ?', JSON.stringify({ level: 4 }), name),
			async authmonItem(device) {
				const [, item] = (await askAsAuthmon(device, 'none')).split(' ');
				return item !== undefined && decodeURIComponent(item).split(' ');
			}
		};
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

async function open(lab: NetworkLab, device: Device): Promise<Buyer> {
	const browser: Browser = await chromium.launch({
		executablePath: device.browser,
		args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu']
	});
	const page = await browser.newPage();
	page.setDefaultTimeout(pageLimitMs);
	// Phones probe until they are redirected: openNDS can have crashed and start again.
	const opensPortal = (address: string) =>
		lab.untilPortal(() =>
			page.goto(address).then(
				() => page.url().includes('/splash/'),
				() => false
			)
		);
	const pay = async (address: string) => {
		await opensPortal(address);
		await page.getByRole('radio', { name: /^30 min/ }).check();
		await page.getByLabel('Your mobile-money number').fill(numberEnding('008'));
		// A page that is paid when it comes leads to the gateway at once, and one that the gateway refuses back to the splash.
		let purchase = '';
		const comes = page.waitForEvent('framenavigated', (frame) => {
			[purchase = ''] = /^[^?]*\/s(\/[\w-]{24})+/.exec(frame.url()) ?? [];
			return purchase !== '';
		});
		await Promise.all([comes, page.getByRole('button', { name: /^Pay/ }).click()]);
		return purchase;
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
		text: () => page.innerText('body'),
		close: () => browser.close()
	};
}
