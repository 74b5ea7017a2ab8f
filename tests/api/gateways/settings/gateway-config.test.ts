import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { RouterOs } from '../../../simulators/gateway/routeros.ts';
import type { UniFiConsole } from '../../../simulators/gateway/unifi-console.ts';
import { browse } from '../../../support/pages/browsing.ts';
import { connectRouterOs, connectUniFi, ROUTER_OS, UNIFI_KEY } from '../../../support/gateways/consoles.ts';
import { cli } from '../../../support/server/cli.ts';
import { useFixture } from '../../../support/server/fixture.ts';

const ORIGIN = 'https://wifi.example';

const fixture = useFixture({ database: 'sqlite' });
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
	const access = (kind: string) => fixture().sql.run('update routers set access_kind = ? where id = 5', kind);
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

it('refuses an unknown part', async () => {
	const { code, stderr } = await run(['config', 'console', '--part', '9']);
	expect(code).toBe(1);
	expect(stderr).toContain('there are the parts 1 to 1');
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
