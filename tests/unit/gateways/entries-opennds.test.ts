/** Redirects of openNDS, as real gateways send them. */
import { describe, expect, it } from 'vitest';
import type { GatewayFacts } from '../../../src/lib/server/gateways/gateway.ts';
import { findAdapter, signsInBrowser } from '../../../src/lib/server/gateways/gateways.ts';
import { ACCESS, finished, get, refusal, SECRET, sha256 } from '../../support/gateways/entries.ts';

describe('openNDS', () => {
	const opennds = findAdapter('opennds');
	const facts: GatewayFacts = {
		loginHosts: ['192.168.8.1'],
		secret: SECRET,
		credentials: {},
		installation: '',
		settings: { level: 1 }
	};
	const hid = sha256('1a2b3c4d');
	const ITEMS = [
		`hid=${hid}`,
		'clientip=192.168.8.137',
		'clientmac=AA:BB:CC:00:11:22',
		'client_type=cpd_can',
		'gatewayname=Caf%c3%a9%2c%20Nia%20Node%3a00aabbccddee%20',
		'gatewayurl=',
		'version=9.10.0',
		'gatewayaddress=192.168.8.1:2050',
		'gatewaymac=00aabbccddee',
		'originurl=http%3a%2f%2fcaptive.apple.com%2fhotspot-detect.html%3fa%3d1%26b%3d2',
		'clientif=wlan0',
		'themespec=(null)',
		'(null)(null)(null)(null)'
	];
	const fas = (items: string[]) => Buffer.from(items.join(', ')).toString('base64');
	const changed = (name: string, value: string | null) =>
		get(`fas=${fas(ITEMS.flatMap((item) => (item.startsWith(`${name}=`) ? (value ?? []) : item)))}`);

	it('reads the list, its percent-encoded values, and passes over the junk at its end', () => {
		const entry = opennds.parseEntry(get(`fas=${fas(ITEMS)}`), facts);
		expect(entry).toEqual({
			state: 'new',
			problem: null,
			clientMac: 'aa:bb:cc:00:11:22',
			clientIp: '192.168.8.137',
			originalUrl: 'http://captive.apple.com/hotspot-detect.html?a=1&b=2',
			login: { hid, gateway: '192.168.8.1:2050' }
		});
	});

	it('a plus sign that the query turned into a blank is one again, also as the last character', () => {
		// 0xfb 0xef 0xbe is "++++" in base64, wherever three bytes begin.
		for (let pad = 0; pad < 3; pad += 1) {
			const filler = `x=${'a'.repeat(pad)}`;
			const bytes = Buffer.concat([
				Buffer.from([...ITEMS, filler].join(', ')),
				Buffer.from([0xfb, 0xef, 0xbe, 0xfb, 0xef, 0xbe])
			]);
			const text = bytes.toString('base64');
			expect(opennds.parseEntry(get(`fas=${text}`), facts).login['hid']).toBe(hid);
		}
		const plus = fas([...ITEMS, 'x=>>>']);
		expect(plus).toContain('+');
		expect(opennds.parseEntry(get(`fas=${plus}`), facts).login['hid']).toBe(hid);
	});

	it('of an item that comes twice the first one counts', () => {
		const twice = get(`fas=${fas([...ITEMS, `hid=${sha256('other')}`])}`);
		expect(opennds.parseEntry(twice, facts).login['hid']).toBe(hid);
	});

	it.each([
		['no fas', get('x=1'), 'missing'],
		['nothing', get(''), 'missing'],
		['not base64', get('fas=%00%01'), 'broken'],
		['no hid', changed('hid', null), 'broken'],
		['a hid that is none', changed('hid', 'hid=abc'), 'broken'],
		['no MAC', changed('clientmac', null), 'broken'],
		['a MAC that is none', changed('clientmac', 'clientmac=aa:bb'), 'broken'],
		['another gateway', changed('gatewayaddress', 'gatewayaddress=203.0.113.9:2050'), 'foreign-host'],
		['another port', changed('gatewayaddress', 'gatewayaddress=192.168.8.1:80'), 'foreign-host'],
		['no gateway', changed('gatewayaddress', null), 'foreign-host'],
		['too much', get(`fas=${'A'.repeat(9_000)}`), 'too-long']
	])('refuses %s', (_what, request, reason) => {
		expect(refusal(opennds, request, facts)).toBe(reason);
	});

	it('finishes with rhid = sha256(hid + faskey), a landing, and nothing of the password', () => {
		const url = finished(opennds, opennds.parseEntry(get(`fas=${fas(ITEMS)}`), facts), facts);
		expect(url.origin + url.pathname).toBe('http://192.168.8.1:2050/opennds_auth/');
		expect(Object.fromEntries(url.searchParams)).toEqual({
			tok: sha256(hid + SECRET),
			custom: Buffer.from('s9001').toString('base64'),
			redir: ACCESS.landing
		});
	});

	it('at level 4 reads the same, and leaves the rest to the gateway', () => {
		const level4: GatewayFacts = { ...facts, settings: { level: 4 } };
		const entry = opennds.parseEntry(get(`fas=${fas(ITEMS)}`), level4);
		expect(entry.state).toBe('new');
		expect(signsInBrowser({ kind: 'opennds', mode: opennds.controlMode(level4) })).toBe(false);
	});

	it('knows a device that is online already, with and without its old fas', () => {
		const plain = 'clientip=192.168.8.137&gatewayname=x&status=authenticated';
		expect(opennds.parseEntry(get(plain), facts)).toMatchObject({
			state: 'online',
			clientIp: '192.168.8.137',
			clientMac: null
		});
		const old = encodeURIComponent(`http://portal.example/splash/KEY?fas=${fas(ITEMS)}`);
		expect(opennds.parseEntry(get(`status=authenticated&redir=${old}`), facts)).toMatchObject({
			state: 'online',
			clientMac: 'aa:bb:cc:00:11:22'
		});
	});
});
