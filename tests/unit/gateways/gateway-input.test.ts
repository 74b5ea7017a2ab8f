import { describe, expect, it } from 'vitest';
import { parseOwnPurchase } from '../../../src/lib/server/portal/splash.ts';
import { normaliseLoginHost } from '../../../src/lib/server/gateways/gateway.ts';
import { type GatewayInput, NO_SETTINGS, checkGateway } from '../../../src/lib/server/gateways/settings.ts';
import { Refused } from '#lib/server/platform/errors.ts';

const INPUT: GatewayInput = {
	...{ ...NO_SETTINGS, name: 'cafe', routerId: 3, kind: 'opennds', loginHosts: ['192.168.8.1'] }
};
const MIKROTIK: Partial<GatewayInput> = { kind: 'mikrotik', loginHosts: ['10.5.50.1'] };
const REST: Partial<GatewayInput> = {
	...MIKROTIK,
	control: 'rest',
	api: 'https://10.8.0.2',
	apiUser: 'airtill',
	apiKey: 'obviously-fake-password'
};
const HOSTAPD: Partial<GatewayInput> = { kind: 'hostapd', loginHosts: [] };
const CONSOLE: Partial<GatewayInput> = {
	kind: 'unifi',
	loginHosts: [],
	site: 'default',
	api: 'https://unifi.example',
	apiKey: 'obviously-fake-key'
};
const UNIFI: Partial<GatewayInput> = { kind: 'unifi', loginHosts: [], site: 'default', externalAccess: true };

function fields(change: Partial<GatewayInput>): string {
	try {
		checkGateway({ ...INPUT, ...change });
	} catch (error) {
		if (error instanceof Refused) return error.fields.map(({ field }) => field).join(' ');
		throw error;
	}
	return 'taken';
}

describe('a gateway', () => {
	it.each<[string, Partial<GatewayInput>]>([
		['taken', {}],
		['taken', { ...MIKROTIK, control: 'radius', nas: '10.8.0.2:3799', radiusSecret: 'a'.repeat(16) }],
		// Of an owner, and now controlled by RADIUS.
		['taken', { ...MIKROTIK, publicApi: true }],
		['taken', { ...HOSTAPD, nas: 'fd00::2' }],
		['taken', REST],
		['taken', CONSOLE],
		['taken', { ...CONSOLE, api: 'http://127.0.0.1:8443', apiInsecure: true }],
		['taken', { kind: 'mikrotik', loginHosts: ['WIFI.example', '10.5.50.1:8080'] }],
		['taken', { ...UNIFI, accessPoints: ['02-AA-BB-CC-DD-EE'] }],
		['name', { name: 'My Cafe' }],
		['router', { routerId: 0 }],
		['kind', { kind: 'cisco' }],
		['login-host', { loginHosts: [] }],
		['login-host', { loginHosts: ['1', '2', '3', '4', '5', '6'].map((last) => `10.0.0.${last}`) }],
		['secret', { secret: 'short' }],
		['secret', { kind: 'mikrotik', secret: 'a'.repeat(16) }],
		['level', { level: '2' }],
		['site', { ...UNIFI, site: null }],
		['access-point', { accessPoints: ['02:aa:bb:cc:dd:ee'] }],
		// Buyers would pay there and stay offline, unless something else lets them in.
		['api', { ...UNIFI, externalAccess: false }],
		['external-access', { ...CONSOLE, externalAccess: true }],
		['control', { ...MIKROTIK, control: 'ftp' }],
		['control', { control: 'rest' }],
		['nas', { nas: '10.0.0.1' }],
		['nas', { ...REST, nas: '10.0.0.1' }],
		['nas', { ...HOSTAPD, nas: '10.0.0.1:65536' }],
		['radius-secret', { ...HOSTAPD, radiusSecret: 'short' }],
		['api api-user api-key', { ...MIKROTIK, api: 'https://10.8.0.2', apiUser: 'x', apiKey: 'x' }],
		['api', { ...REST, api: null }],
		['api', { ...REST, api: 'https://admin:secret@10.8.0.2' }],
		['api', { ...REST, api: 'ftp://10.8.0.2' }],
		// The password would go through the internet in clear.
		['api', { ...REST, api: 'http://8.8.8.8' }],
		['api', { ...REST, api: 'http://router.example' }],
		['api', { ...CONSOLE, api: 'http://10.8.0.3' }],
		['api', { ...CONSOLE, api: 'http://8.8.8.8', apiInsecure: true }],
		['api-user', { ...REST, apiUser: null }],
		['api-user', { ...REST, apiUser: 'a:b' }],
		['api-key', { ...CONSOLE, apiKey: 'two\nlines' }],
		['api-certificate', { ...REST, apiCertificate: 'no certificate' }],
		['name kind', { name: '', kind: '' }]
	])('%s: %j', (expected, change) => {
		expect(fields(change)).toBe(expected);
	});
});

it('an API address gets the path of its kind, and keeps one of its own', () => {
	const address = (change: Partial<GatewayInput>) => checkGateway({ ...INPUT, ...change }).settings.api;
	expect(address(REST)).toBe('https://10.8.0.2/rest');
	expect(address(CONSOLE)).toBe('https://unifi.example/proxy/network/integration/v1');
	const own = 'https://api.ui.com/v1/connector/consoles/1/proxy/network/integration/v1';
	expect(address({ ...CONSOLE, api: `${own}/` })).toBe(own);
});

it.each([
	['10.5.50.1', '10.5.50.1'],
	[' WiFi.Example:080 ', 'wifi.example:80'],
	['10.5.50', null],
	['a..b', null],
	['wifi.example/login', null],
	['user@wifi.example', null],
	['wifi.example:65536', null],
	['', null]
])('the login host "%s" is %s', (text, expected) => {
	expect(normaliseLoginHost(text)).toBe(expected);
});

describe('the purchase that a browser comes back to', () => {
	const origin = 'https://portal.example';
	const token = 'AbCdEfGhIjKlMnOpQrStUv_-';
	const device = '0123456789abcdef01234567';

	it.each([
		[`${origin}/s/${token}/${device}?online`],
		[`${origin}/sw/s/${token}/${device}`],
		[
			`http://192.168.8.1:2050/opennds_auth/?tok=x&redir=${encodeURIComponent(`${origin}/s/${token}/${device}?online`)}`
		],
		[`http://10.5.50.1/login?dst=${encodeURIComponent(`${origin}/s/${token}/${device}`)}`]
	])('is found in %s', (address) => {
		expect(parseOwnPurchase(address, origin)).toEqual({ kind: 's', token, device });
	});

	it('is found where it is an API buyer’s, or names no device', () => {
		const found = { kind: 'pass', token, device: null };
		expect(parseOwnPurchase(`${origin}/sw/pass/${token}?online`, origin)).toEqual(found);
	});

	it.each([
		[null],
		[`https://evil.example/s/${token}`],
		[`http://portal.example/s/${token}`],
		[`${origin}/s/short`],
		[`${origin}/s/${token}/${device}/online`],
		[`http://10.5.50.1/login?dst=${encodeURIComponent(`https://evil.example/s/${token}`)}`]
	])('is not found in %s', (address) => {
		expect(parseOwnPurchase(address, origin)).toBeNull();
	});
});
