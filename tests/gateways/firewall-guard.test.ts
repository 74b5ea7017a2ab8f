/**
 * The guard for openNDS 10, read as OpenWrt's firewall reads it: /etc/nftables.d/*.nft inside `table inet fw4`, which is
 * flushed and made anew with each start (fw4's ruleset.uc). On a router of namespaces, with the nftables of the kernel.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { guards } from '../../src/lib/server/gateways/opennds.ts';
import { parsePortalAddress } from '../../src/lib/server/gateways/gateway.ts';
import { LAN, startNetworkLab, until, type Device, type NetworkLab } from '../support/lab/network-lab.ts';

const PORTAL = 'http://203.0.113.80:8080';
const PORTAL_SAYS = 'This is the portal.';

let lab: NetworkLab;
let phone: Device;
let includes: string;
let fw4: string;

const guardFor = (origin: string) => {
	const parts = guards(LAN, parsePortalAddress({ origin, port: 3000 }));
	const guard = parts.find(({ file }) => file?.startsWith('/etc/nftables.d/') ?? false);
	expect(guard?.file).toMatch(/\.nft$/);
	return guard?.text ?? '';
};
const put = (text: string) => writeFileSync(path.join(includes, 'airtill-guard.nft'), text);
const nft = (...args: string[]) => lab.router.run('nft', ...args);
/** As openNDS marks the packets of a device. */
const mark = (value: string) =>
	nft(
		`table ip nds { chain pre { type filter hook prerouting priority mangle; }; }; flush chain ip nds pre; ` +
			`add rule ip nds pre ip saddr ${phone.ip} meta mark set mark or ${value}`
	);
const portal = async () => (await phone.get(`${PORTAL}/`)).body;

beforeAll(async () => {
	// No browser is opened here.
	lab = await startNetworkLab('/bin/false');
	includes = path.join(lab.folder, 'nftables.d');
	mkdirSync(includes);
	fw4 = path.join(lab.folder, 'fw4.nft');
	writeFileSync(
		fw4,
		`table inet fw4
flush table inet fw4

table inet fw4 {
	include "${includes}/*.nft"

	chain forward {
		type filter hook forward priority filter; policy drop;
		ct state established,related accept
		iifname "${LAN}" accept
	}
}
`
	);
	phone = await lab.join('02:00:00:00:00:52');
	const script = `require('node:http').createServer((_, to) => to.end(${JSON.stringify(PORTAL_SAYS)})).listen(8080)`;
	lab.internet.start(process.execPath, ['--eval', script], { stdio: 'ignore' });
	await until('the portal answers', async () => (await portal()) === PORTAL_SAYS);
});
afterAll(() => lab?.stop());

it.each([PORTAL, 'https://wifi.example', 'http://[2001:db8::1]:8080'])(
	'fw4 loads it for a portal at %s',
	async (origin) => {
		put(guardFor(origin));
		expect(await nft('-c', '-f', fw4)).toBe('');
	}
);

it('who is not let in reaches the portal alone, however often the firewall starts', async () => {
	put('');
	await nft('-f', fw4);
	expect(await phone.isOnline(), 'a router without openNDS').toBe(true);
	put(guardFor(PORTAL));
	for (let start = 0; start < 2; start += 1) await nft('-f', fw4);
	expect(await phone.isOnline()).toBe(false);
	expect(await portal()).toBe(PORTAL_SAYS);
	const rules = await nft('list', 'chain', 'inet', 'fw4', 'airtill_guard');
	expect(rules.match(/reject/g)).toHaveLength(1);
});

it.each([
	['0x30000', 'authenticated', true],
	['0x20000', 'trusted', true],
	['0x10000', 'blocked', false]
] as const)('a device with the mark %s (%s)', async (value, _name, isOnline) => {
	put(guardFor(PORTAL));
	await nft('-f', fw4);
	await mark(value);
	expect(await phone.isOnline()).toBe(isOnline);
	expect(await portal()).toBe(PORTAL_SAYS);
});
