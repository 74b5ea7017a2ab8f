/**
 * A device that has not paid is not online by IPv6 either. openNDS 9 and 10 control IPv4 only, so the guard that is
 * printed with their configuration blocks IPv6. Runs on a router of namespaces, with the real openNDS 9.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parsePortalAddress } from '../../src/lib/server/gateways/gateway.ts';
import { openndsConfig } from '../../src/lib/server/gateways/opennds.ts';
import {
	INTERNET_SAYS,
	LAN,
	ROUTER_ADDRESS,
	startNetworkLab,
	until,
	type Device,
	type NetworkLab
} from '../support/lab/network-lab.ts';

const IPV6_INTERNET = 'http://[2001:db8:80::80]/';
const GUARD = '/etc/opennds/airtill-guard.sh';

let lab: NetworkLab;
let phone: Device;

const parts = openndsConfig(
	{
		loginHosts: [`${ROUTER_ADDRESS}:2050`],
		secret: 'faskeyfaskeyfaskey12',
		installation: 'fa11ab1e',
		credentials: { token: 'x'.repeat(40) },
		settings: { level: 1 }
	},
	{
		portal: parsePortalAddress({ origin: `http://${ROUTER_ADDRESS}:3000`, port: 3000 }),
		apiOrigin: `http://${ROUTER_ADDRESS}:3000`,
		radiusServer: ROUTER_ADDRESS,
		gateway: { name: 'lobby', key: 'k'.repeat(24) },
		router: { ssid: 'lobby', hidden: false, accessKind: 'portal_login' }
	}
);
const textOf = (file: string) => parts.find((part) => part.file === file)?.text ?? '';

const isOnlineByIpv6 = async () => (await phone.get(IPV6_INTERNET)).body === INTERNET_SAYS;
const ip6tables = (...args: string[]) =>
	lab.router.run('env', `PATH=${lab.env['PATH'] ?? ''}`, 'ip6tables', ...args);
const iptables = (...args: string[]) =>
	lab.router.run('env', `PATH=${lab.env['PATH'] ?? ''}`, 'iptables', ...args);
/** Runs the guard with programs of our own in place of the system's. */
function guardWith(programs: Record<string, string>) {
	const bin = path.join(lab.folder, 'other-bin');
	mkdirSync(bin, { recursive: true });
	for (const [name, script] of Object.entries(programs)) {
		writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`);
		chmodSync(path.join(bin, name), 0o755);
	}
	return lab.router.try('env', `PATH=${bin}:${lab.env['PATH'] ?? ''}`, 'sh', GUARD);
}
const setIpv6 = (off: '0' | '1') =>
	lab.router.run('sysctl', '-qw', `net.ipv6.conf.${LAN}.disable_ipv6=${off}`);
const lanAddress = () =>
	lab.router.run('ip', '-6', 'addr', 'replace', '2001:db8:77::1/64', 'dev', LAN, 'nodad');

beforeAll(async () => {
	// No browser is opened here.
	lab = await startNetworkLab('/bin/false');
	const { router, internet } = lab;
	for (const setting of ['all.disable_ipv6=0', 'default.disable_ipv6=0', 'all.forwarding=1'])
		await router.run('sysctl', '-qw', `net.ipv6.conf.${setting}`);
	await setIpv6('0');
	await lanAddress();
	await router.run('ip', '-6', 'addr', 'add', '2001:db8:80::1/64', 'dev', 'wan', 'nodad');
	await internet.run('ip', '-6', 'addr', 'add', '2001:db8:80::80/64', 'dev', 'eth0', 'nodad');
	await internet.run('ip', '-6', 'route', 'add', 'default', 'via', '2001:db8:80::1');
	phone = await lab.join('02:00:00:00:00:53');
	await phone.machine.run('ip', '-6', 'addr', 'add', '2001:db8:77::53/64', 'dev', 'wlan0', 'nodad');
	await phone.machine.run('ip', '-6', 'route', 'add', 'default', 'via', '2001:db8:77::1');
	// Without it the tests would say nothing.
	await until('the router forwards IPv6', isOnlineByIpv6);
	for (const { file, text } of parts) {
		if (file?.startsWith('/etc/opennds/') || file?.startsWith('/usr/lib/opennds/')) lab.install(file, text);
	}
}, 120_000);
afterAll(() => lab?.stop());

describe('openNDS 9 with the guard', () => {
	afterEach(async () => {
		await ip6tables('-F', 'FORWARD');
		await iptables('-F', 'FORWARD');
		await setIpv6('0');
		await lanAddress();
	});

	it('lets nobody through by IPv6, and its guard is one rule however often it runs', async () => {
		await lab.startGuard();
		await lab.startGuard();
		await lab.startOpennds();
		expect(await phone.isOnline(), 'by IPv4').toBe(false);
		expect(await isOnlineByIpv6()).toBe(false);
		expect((await ip6tables('-S', 'FORWARD')).match(/REJECT/g)).toHaveLength(1);
		await lab.stopOpennds();
		expect(await isOnlineByIpv6(), 'openNDS has stopped').toBe(false);
	});

	it.each([
		['is not there', 'exit 127'],
		['has no such target', 'exit 1']
	])('keeps IPv6 off the interface where ip6tables %s', async (_, script) => {
		const { code } = await guardWith({ ip6tables: script });
		expect(code).toBe(0);
		expect(await isOnlineByIpv6()).toBe(false);
		expect(await phone.isOnline(), 'by IPv4').toBe(false);
	});

	it('says when it does not guard IPv4', async () => {
		expect((await guardWith({ iptables: 'exit 3' })).code).toBe(3);
	});
});

it('the guard of openNDS 10 lets nobody through by IPv6', async () => {
	const file = path.join(lab.folder, 'airtill-guard.nft');
	writeFileSync(file, `table inet fw4 {\n${textOf('/etc/nftables.d/airtill-guard.nft')}\n}\n`);
	expect(await isOnlineByIpv6(), 'before').toBe(true);
	await lab.router.run('nft', '-f', file);
	expect(await isOnlineByIpv6()).toBe(false);
});
