/** The commands about gateways: what they print, and what they refuse. */
import { describe, expect, it, afterAll, beforeAll, afterEach } from 'vitest';
import { ndsEntry, newDevice } from '../../../support/gateways/opennds.ts';
import { registerGateway } from '../../../support/gateways/gateways.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { cli } from '../../../support/server/cli.ts';
import { useFixture, eventually } from '../../../support/server/fixture.ts';
import { writeFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { startUniFi, type UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { selfSigned } from '../../../support/gateways/certificates.ts';
import {
	buyAtUniFi,
	newMac,
	UNIFI_KEY,
	UNIFI_ROUTER,
	connectRouterOs,
	connectUniFi,
	ROUTER_OS
} from '../../../support/gateways/consoles.ts';
import { startTlsFront, type TlsFront } from '../../../support/gateways/tls-front.ts';
import { tmpdir } from 'node:os';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';

const LOGIN_HOST = '192.168.8.1';
const MAC = '02:00:00:00:00:01';

describe('an installation that is reached by https', () => {
	const fixture = useFixture({ database: 'sqlite', env: { ORIGIN: 'https://portal.example' } });

	it('tells devices its addresses, and DHCP where to find them', async () => {
		const { server } = fixture();
		const origin = 'https://portal.example';
		const opennds = await registerGateway(server, 'opennds', { loginHost: LOGIN_HOST, origin });
		// Devices behind it cannot be told apart: whoever read there that it is captive would believe it for ever.
		expect(opennds.text).toContain('DHCP option 114 is not to be set');
		expect(opennds.text).not.toContain('dhcp-option=114');
		const { key, text } = await registerGateway(server, 'mikrotik-chap', { loginHost: LOGIN_HOST, origin });
		const answer = await fetch(`${server.url}/captive-portal/${key}`);
		expect(await answer.json()).toEqual({
			captive: true,
			'user-portal-url': `${origin}/splash/${key}`,
			'venue-info-url': `${origin}/r/3`,
			'can-extend-session': true
		});
		expect(text).toContain(`dhcp-option=114,${origin}/captive-portal/${key}`);
		expect(text).toContain(`code=114 value="s'${origin}/captive-portal/${key}'"`);
		expect(text).toContain(`option captive-portal-uri "${origin}/captive-portal/${key}";`);
	});
});

describe('the command line', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const run = (...args: string[]) => cli(['gateways', ...args], fixture().server);
	const ADD = ['--router', '3', '--kind', 'opennds', '--login-host', LOGIN_HOST];

	it('prints the secret once, stores no key or secret in clear, and rotates both', async () => {
		const { sql, server } = fixture();
		const added = await run('add', 'cafe', ...ADD);
		const key = /captive-portal\/([\w-]{24})/.exec(added.stdout)?.[1] ?? '';
		const secret = /^Secret \(\w+\), .*:\n(\w{32})$/m.exec(added.stdout)?.[1] ?? '';
		expect([key, secret]).toEqual([expect.stringMatching(/^.{24}$/), expect.stringMatching(/^.{32}$/)]);
		const stored = JSON.stringify(await sql.all('select * from gateways'));
		expect(stored).not.toContain(key);
		expect(stored).not.toContain(secret);
		expect((await run('show', 'cafe')).stdout).toContain(key);
		expect((await run('show', 'cafe')).stdout).not.toContain(secret);
		expect((await run('list')).stdout).toContain('Kisementi Corner');

		const rotated = await run('rotate', 'cafe', '--key', '--secret');
		const newKey = /captive-portal\/([\w-]{24})/.exec(rotated.stdout)?.[1] ?? '';
		expect(newKey).not.toBe(key);
		expect(rotated.stdout).not.toContain(secret);
		expect((await fetch(`${server.url}/captive-portal/${key}`)).status).toBe(404);
		expect((await fetch(`${server.url}/captive-portal/${newKey}`)).status).toBe(200);

		await fetch(server.url + ndsEntry({ key: newKey }, newDevice(), LOGIN_HOST));
		expect((await run('remove', 'cafe')).code).toBe(0);
		expect((await fetch(`${server.url}/captive-portal/${newKey}`)).status).toBe(404);
		expect(await sql.count('select count(*) from captive_sessions')).toBe(0);
	});

	it('names the field and the reason of what it refuses', async () => {
		expect((await run('add', 'twice', ...ADD)).code).toBe(0);
		const refusals: [string[], RegExp][] = [
			[['add', 'twice', ...ADD], /^name: "twice" is already in use/m],
			[
				['add', 'x', '--router', '999', '--kind', 'coova', '--login-host', 'a.example'],
				/^--router: there is no router 999; /
			],
			[['add', 'x', '--kind', 'coova'], /--router is missing/],
			[
				['add', 'x', '--router', '3', '--kind', 'unifi', '--site', 'default'],
				/^api: .* buyers would pay and stay offline\. .* --external-access$/m
			],
			[['show', 'nobody'], /There is no gateway "nobody"/],
			[['rotate', 'twice'], /Choose what to renew/],
			[['rotate', 'twice', '--secret-file', 'no-such-file'], /no-such-file cannot be read/]
		];
		for (const [args, reason] of refusals) {
			const { code, stdout, stderr } = await run(...args);
			expect(code, args.join(' ')).not.toBe(0);
			expect(stdout).toBe('');
			expect(stderr).toMatch(reason);
		}
	});

	it('two UniFi gateways of one site need their access points, which identify them', async () => {
		const { server } = fixture();
		const bare = (name: string, router: string, ...more: string[]) =>
			run('add', name, '--router', router, '--kind', 'unifi', '--site', 'default', ...more);
		const unifi = (...words: Parameters<typeof bare>) => bare(...words, '--external-access');
		expect((await unifi('one', '3', '--access-point', '02:aa:00:00:00:01')).code).toBe(0);
		expect((await unifi('two', '4')).stderr).toMatch(/^access-point: "one" has the same site/m);
		expect((await unifi('two', '4', '--access-point', '02:aa:00:00:00:02')).code).toBe(0);
		const at = async (ap: string) =>
			(
				await browse(server.url).get(
					`/guest/s/default/?ap=${ap}&id=${MAC}&t=1&url=http://example.com/&ssid=X`
				)
			).html;
		const title = (html: string) => /<h1>(.*?)<\/h1>/.exec(html)?.[1]?.replace(/<[^>]+>/g, '');
		const [one, two] = [await at('02:aa:00:00:00:01'), await at('02:aa:00:00:00:02')];
		expect(title(one)).toBe('Kisementi Corner');
		expect(title(two)).not.toBe(title(one));
		expect(await at('02:aa:00:00:00:03')).toContain('We can’t find this Wi‑Fi');
	});
});

/** The API of a gateway with a certificate of its own: only who shows that very one is told anything. */
describe('a certificate', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const [OWN, OTHER] = [selfSigned('unifi.local'), selfSigned('unifi.local')];

	let unifi: UniFiConsole;
	let front: TlsFront;

	const written = (name: string, text: string) => {
		const file = path.join(fixture().server.dataDir, name);
		writeFileSync(file, text, { mode: 0o600 });
		return file;
	};
	const add = (name: string, ...more: string[]) => {
		const site = ['--router', String(UNIFI_ROUTER), '--kind', 'unifi', '--site', 'default'];
		const api = ['--api', front.url, '--api-key-file', written('api.key', `${UNIFI_KEY}\n`)];
		return cli(['gateways', 'add', name, ...site, ...api, ...more], fixture().server);
	};
	const test = (name: string) => cli(['gateways', 'test', name], fixture().server);
	const refusal = (reason: string) => `The certificate of ${new URL(front.url).host} ${reason}`;
	const NOT_OURS = 'is not the one in --api-certificate-file, or it has expired';

	beforeAll(async () => {
		unifi = await startUniFi(UNIFI_KEY);
		front = await startTlsFront(unifi.url, OWN);
	});
	afterAll(async () => {
		await front?.stop();
		await unifi?.stop();
	});

	it('one that nobody has signed is refused, and no key is shown to it', async () => {
		expect((await add('unpinned')).code).toBe(0);
		const { code, stdout } = await test('unpinned');
		expect(code).toBe(1);
		const reason = 'is not trusted on this machine. Give it with --api-certificate-file';
		expect(stdout).toContain(`FAIL gateway: ${refusal(reason)}`);
		expect(unifi.asked).toEqual([]);
		expect((await cli(['gateways', 'remove', 'unpinned'], fixture().server)).code).toBe(0);
	});

	it('is reached when its certificate is pinned, by our commands and by a purchase', async () => {
		expect((await add('console', '--api-certificate-file', written('own.pem', OWN.cert))).code).toBe(0);
		const tested = await test('console');
		expect(tested.stdout).toMatch(/^ok gateway: it answers, and accepts our key/m);
		expect(tested.code).toBe(0);
		const mac = newMac();
		unifi.join(mac);
		const bought = await buyAtUniFi(fixture(), mac);
		await fixture().becomes(bought.sessionId, 'active');
		expect(unifi.isIn(mac)).toBe(true);
	});

	it('another certificate of the same name is refused with the reason, until the right one is back', async () => {
		const before = unifi.asked.length;
		front.show(OTHER);
		const { code, stdout } = await test('console');
		expect(code).toBe(1);
		expect(stdout).toContain(`FAIL gateway: ${refusal(NOT_OURS)}`);
		const mac = newMac();
		unifi.join(mac);
		const bought = await buyAtUniFi(fixture(), mac);
		await eventually('the reason is noted', async () => {
			const [row] = await fixture().sql.all(
				'select problem from admissions where pass_id = ?',
				bought.sessionId
			);
			return row?.['problem'] === `${refusal(NOT_OURS)}.`;
		});
		expect((await fixture().admin.getSession(bought.sessionId)).status).toBe('activating');
		expect(unifi.asked.length).toBe(before);
		front.show(OWN);
		await fixture().becomes(bought.sessionId, 'active');
		expect(unifi.isIn(mac)).toBe(true);
	});
});

describe('the configuration', () => {
	const fixture = useFixture({ database: 'sqlite' });
	const ORIGIN = 'https://wifi.example';

	const running: { unifi?: UniFiConsole; hotspot?: RouterOs } = {};
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-config-'));

	beforeAll(async () => {
		running.unifi = await connectUniFi(fixture());
		running.hotspot = await connectRouterOs(fixture());
		await fixture().sql.run("update routers set access_kind = 'portal_login' where id in (3, 4)");
	});
	afterEach(() => {
		running.unifi?.heal();
		running.hotspot?.heal();
	});
	afterAll(async () => {
		rmSync(folder, { recursive: true, force: true });
		await Promise.all([running.unifi?.stop(), running.hotspot?.stop()]);
	});

	const run = (args: string[], origin = ORIGIN) =>
		cli(['gateways', ...args], { env: { ...fixture().server.env, ORIGIN: origin } });
	const keyOf = async (name: string) =>
		/\/captive-portal\/([\w-]{24})/.exec((await run(['show', name])).stdout)?.[1] ?? '';

	it('prints a script with the values of that very hotspot, and its page, which the portal takes', async () => {
		const { server } = fixture();
		const key = await keyOf('hotspot');
		const { code, stdout } = await run(['config', 'hotspot']);
		expect(code).toBe(0);
		for (const line of [
			`/user add name="${ROUTER_OS.user}" group=airtill password="${ROUTER_OS.password}" comment=airtill-hotspot`,
			'/ip hotspot walled-garden ip add dst-host=wifi.example action=accept comment=airtill-hotspot',
			`# /ip dhcp-server option add name=airtill-hotspot code=114 value="s'${ORIGIN}/captive-portal/${key}'"`,
			// By IPv6, to which a hotspot does not see, nobody is online unpaid.
			'/ipv6 firewall raw remove [find comment=airtill-hotspot]',
			':foreach hotspot in=[/ip hotspot find] do={/ipv6 firewall raw add chain=prerouting ' +
				'in-interface=[/ip hotspot get $hotspot interface] action=drop comment=airtill-hotspot}'
		]) {
			expect(stdout.split('\n')).toContain(line);
		}
		expect(stdout).not.toContain('THIS-MACHINE');
		const { stdout: page } = await run(['config', 'hotspot', '--part', '3'], server.url);
		expect(page).toContain('<form id="r"');
		const action = /action="([^"]+)"/.exec(page)?.[1] ?? '';
		expect(action).toBe(`${server.url}/splash/${key}`);
		// As the router fills it in.
		const values: Record<string, string> = {
			mac: '02:00:00:00:00:07',
			ip: '127.0.0.1',
			'link-login-only': 'http://10.5.50.1/login',
			'link-orig': 'http://example.com/',
			'logged-in': 'no'
		};
		const fields = [...page.matchAll(/name="([\w-]+)" value="\$\(([\w-]+)\)"/g)].map(
			([, name = '', variable = '']) => [name, values[variable] ?? ''] as const
		);
		const landed = await browse(server.url).post(new URL(action).pathname, Object.fromEntries(fields));
		expect(landed.path).toMatch(new RegExp(`^/splash/${key}/[\\w-]{24}$`));
		expect(landed.text).toContain('Acacia Reading Room');
	});

	it('writes files that nobody else may read', async () => {
		const { code } = await run(['config', 'hotspot', '--out', folder]);
		expect(code).toBe(0);
		expect(readdirSync(folder).sort()).toEqual(['airtill.rsc', 'login.html']);
		for (const name of readdirSync(folder)) {
			expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
		}
		expect(readFileSync(path.join(folder, 'airtill.rsc'), 'utf8')).toContain(ROUTER_OS.password);
	});

	it('a hotspot behind RADIUS gets its client as well, and no user of an API', async () => {
		const added = await run([
			...['add', 'radius', '--router', '4', '--kind', 'mikrotik', '--login-host', '10.5.50.1'],
			...['--nas', '10.8.0.2:3800']
		]);
		const secret = /^RADIUS secret, .*:\n(\w+)$/m.exec(added.stdout)?.[1] ?? '';
		expect(secret).toMatch(/^\w{32}$/);
		const { stdout } = await run(['config', 'radius']);
		expect(stdout).toContain(`/radius add service=hotspot address=ADDRESS-OF-RADIUS secret="${secret}"`);
		expect(stdout).toContain('/radius incoming set accept=yes port=3800');
		expect(stdout).toContain('ipaddr = 10.8.0.2');
		expect(stdout).not.toContain('/user add');
		// What is not known stops the import, and is named in the steps.
		expect(stdout).toMatch(/^:error "airtill\.rsc: put in what is not known \(ADDRESS-OF-RADIUS\)/m);
		expect(stdout).toMatch(/^ {3}ADDRESS-OF-RADIUS: /m);
		const { stdout: script } = await run(['config', 'radius', '--part', '2', '--radius-server', '10.8.0.1']);
		expect(script).toContain(`/radius add service=hotspot address=10.8.0.1 secret="${secret}"`);
		expect(script).not.toMatch(/:error|ADDRESS-OF/);
		const nameless = await run(['config', 'radius', '--part', '2'], '');
		expect(nameless.stdout).toMatch(/^:error .*\(THIS-MACHINE, ADDRESS-OF-RADIUS\)/m);
		expect((await run(['config', 'radius', '--radius-server', 'radius.example'])).code).not.toBe(0);

		// FreeRADIUS does not start with two clients of one address.
		const other = ['add', 'radius-2', '--router', '4', '--kind', 'coova', '--login-host', '10.1.0.1'];
		for (const nas of ['10.8.0.2', '10.8.0.2:3801']) {
			const twice = await run([...other, '--nas', nas]);
			expect([twice.code, twice.stderr]).toEqual([
				1,
				expect.stringMatching(/^nas: "radius" already sends RADIUS requests from 10\.8\.0\.2/m)
			]);
		}
		expect((await run(other)).code).toBe(0);
		const coova = await run(['config', 'radius-2'], '');
		expect(coova.stdout).toMatch(/^HS_RADIUS=ADDRESS-OF-RADIUS$/m);
		expect(coova.stdout).toMatch(/^HS_UAMFORMAT=http:\/\/THIS-MACHINE(:\d+)?\/splash\//m);
		expect(coova.stdout).toMatch(/^#client airtill-radius-2 \{$/m);
		expect(coova.stdout).toMatch(/^#\tipaddr = ADDRESS-OF-GATEWAY$/m);
		expect(coova.stdout).not.toMatch(/^client /m);
		for (const name of ['radius', 'radius-2']) expect((await run(['remove', name])).code).toBe(0);
	}, 60_000);

	it('names nothing of two gateways alike, whatever they are called', async () => {
		await fixture().sql.run("update routers set access_kind = 'wpa_enterprise' where id = 5");
		const names = ['lobby', 'lobby-inner', 'lobby-eap'];
		for (const [index, name] of names.entries()) {
			const args = ['add', name, '--router', '5', '--kind', 'hostapd', '--nas', `10.9.0.${index + 1}`];
			expect(await run(args)).toMatchObject({ code: 0 });
		}
		const printed = await Promise.all(names.map(async (name) => (await run(['config', name])).stdout));
		const parts = printed.join('\n').matchAll(/^(rest|eap|server|client) (\S+) \{$/gm);
		// Modules of both kinds are called by their names alone.
		const called = [...parts].map(([, kind, name]) => `${kind === 'eap' ? 'rest' : kind} ${name}`);
		expect(called).toHaveLength(15);
		expect(called.filter((one, index) => called.indexOf(one) !== index)).toEqual([]);
		for (const name of names) expect((await run(['remove', name])).code).toBe(0);
		await fixture().sql.run("update routers set access_kind = 'portal_login' where id = 5");
	});

	it('an access point takes Disconnect-Requests, whichever passwords it asks for', async () => {
		const access = (kind: string) =>
			fixture().sql.run('update routers set access_kind = ? where id = 5', kind);
		await access('wpa_personal_per_client');
		const add = ['add', 'point', '--router', '5', '--kind', 'hostapd'];
		const secret = /^RADIUS secret, .*:\n(\w+)$/m.exec((await run(add)).stdout)?.[1] ?? '';
		const { stdout: personal } = await run(['config', 'point', '--radius-server', '10.8.0.1']);
		for (const line of [
			'own_ip_addr=ADDRESS-OF-GATEWAY',
			'auth_server_addr=10.8.0.1',
			`radius_das_client=ADDRESS-OF-AIRTILL ${secret}`,
			'uci set wireless.airtill.auth_server=10.8.0.1',
			`uci add_list wireless.airtill.hostapd_bss_options='radius_das_port=3799'`,
			`uci add_list wireless.airtill.hostapd_bss_options='radius_das_client=ADDRESS-OF-AIRTILL ${secret}'`
		]) {
			expect(personal.split('\n')).toContain(line);
		}
		expect(personal).not.toContain('dae_client');
		await access('wpa_enterprise');
		const { stdout: enterprise } = await run(['config', 'point']);
		expect(enterprise).toContain('uci set wireless.airtill.dae_client=ADDRESS-OF-AIRTILL');
		expect(enterprise).toContain('auth_server_addr=ADDRESS-OF-RADIUS');
		expect(enterprise).not.toContain('hostapd_bss_options');
		expect(enterprise + personal).not.toMatch(/192\.0\.2\.1|_(server|addr|client)=127\./);
		expect((await run(['remove', 'point'])).code).toBe(0);
	}, 60_000);

	it('numbers the steps in the console of UniFi, and repeats no key', async () => {
		const { stdout } = await run(['config', 'console']);
		expect(stdout).toMatch(/^1\. Settings > WiFi: the network "KISEMENTI-WIFI"/m);
		expect(stdout).toContain('/guest/s/default/');
		expect(stdout).not.toContain(UNIFI_KEY);
	});

	it.each(['console', 'hotspot'])('%s: nothing is wrong where all is well', async (name) => {
		const { code, stdout } = await run(['test', name]);
		expect(stdout).not.toMatch(/^FAIL/m);
		expect(stdout).toMatch(/^ok gateway: it answers, and accepts our key/m);
		expect(stdout).toMatch(/^ok clock: its clock is \d s/m);
		expect(code).toBe(0);
	});

	it.each([
		['1', ORIGIN, 'use --level 4'],
		['4', 'http://wifi.example', 'use an https ORIGIN']
	])(
		'of openNDS says that no device reaches level %s at %s',
		async (level, origin, fix) => {
			const add = ['add', 'nds', '--router', '4', '--kind', 'opennds', '--login-host', '10.2.0.1'];
			const added = await run([...add, '--level', level], origin);
			const tested = await run(['test', 'nds'], origin);
			expect(added.stdout).toMatch(new RegExp(`No device .* level ${level} .* at ${origin}\\.\\n.*${fix}`));
			expect(tested.stdout).toMatch(new RegExp(`^FAIL level: level ${level} .* at ${origin} - ${fix}`, 'm'));
			expect(tested.code).toBe(1);
			const other = origin === ORIGIN ? 'http://wifi.example' : ORIGIN;
			expect((await run(['test', 'nds'], other)).stdout).not.toContain('level');
			expect((await run(['remove', 'nds'])).code).toBe(0);
		},
		60_000
	);

	it('says what is wrong, and ends with 1', async () => {
		const { sql } = fixture();
		running.unifi?.fail('unauthorised');
		const refused = await run(['test', 'console']);
		expect(refused).toMatchObject({ code: 1 });
		expect(refused.stdout).toMatch(/^FAIL gateway: The console rejected the API key - /m);
		expect(refused.stdout).not.toContain(UNIFI_KEY);
		running.hotspot?.fail('error');
		expect((await run(['test', 'hotspot'])).stdout).toMatch(
			/^FAIL gateway: The RouterOS user lacks permission/m
		);
		running.hotspot?.heal();
		running.hotspot?.fail('down');
		expect((await run(['test', 'hotspot'])).stdout).toMatch(/^FAIL gateway: 127\.0\.0\.1:\d+ /m);
		await sql.run("update routers set access_kind = 'shared_password' where id = 3");
		const unfit = await run(['test', 'console']);
		await sql.run("update routers set access_kind = 'portal_login' where id = 3");
		expect(unfit.stdout).toMatch(/^FAIL router: "Kisementi Corner" sells shared_password/m);
	});
});
