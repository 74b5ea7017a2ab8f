/** What an operator may register, and the addresses that a browser may be sent to. */
import { describe, expect, it } from 'vitest';
import { ownPurchase } from '../../src/routes/(portal)/splash/own-purchase.ts';
import { normaliseLoginHost } from '../../src/lib/server/gateways/login-hosts.ts';
import { checkGateway, GatewayInputError, type GatewayInput } from '../../src/lib/server/gateways/rules.ts';
import { normaliseMac } from '../../src/lib/mac.ts';

const INPUT: GatewayInput = {
	name: 'cafe',
	routerId: 3,
	kind: 'opennds',
	loginHosts: ['192.168.8.1'],
	secret: null,
	level: null,
	site: null,
	accessPoints: [],
	letInElsewhere: false
};
const UNIFI: Partial<GatewayInput> = { kind: 'unifi', loginHosts: [], site: 'default', letInElsewhere: true };

function fields(change: Partial<GatewayInput>): string {
	try {
		checkGateway({ ...INPUT, ...change });
	} catch (error) {
		if (error instanceof GatewayInputError) return error.problems.map(({ field }) => field).join(' ');
		throw error;
	}
	return 'taken';
}

describe('a gateway', () => {
	it.each<[string, Partial<GatewayInput>]>([
		['taken', {}],
		['taken', { secret: 'a'.repeat(16), level: '4', letInElsewhere: true }],
		['taken', { kind: 'mikrotik', loginHosts: ['WIFI.example', '10.5.50.1:8080'] }],
		['taken', { ...UNIFI, accessPoints: ['02-AA-BB-CC-DD-EE'] }],
		['name', { name: 'My Cafe' }],
		['router', { routerId: 0 }],
		['kind', { kind: 'cisco' }],
		['login-host', { loginHosts: [] }],
		['login-host', { loginHosts: ['http://10.0.0.1'] }],
		['login-host', { loginHosts: ['1', '2', '3', '4', '5', '6'].map((last) => `10.0.0.${last}`) }],
		['login-host', { ...UNIFI, loginHosts: ['10.0.0.1'] }],
		['secret', { secret: 'short' }],
		['secret', { secret: 'with blanks and so on' }],
		['secret', { kind: 'mikrotik', secret: 'a'.repeat(16) }],
		['level', { level: '2' }],
		['level', { kind: 'coova', level: '1' }],
		['site', { ...UNIFI, site: null }],
		['site', { site: 'default' }],
		['access-point', { accessPoints: ['02:aa:bb:cc:dd:ee'] }],
		// Buyers would pay there and stay offline, unless something else lets them in.
		['kind', { ...UNIFI, letInElsewhere: false }],
		['level', { level: '4' }],
		['let-in-elsewhere', { letInElsewhere: true }],
		['name kind', { name: '', kind: '' }]
	])('%s: %j', (expected, change) => {
		expect(fields(change)).toBe(expected);
	});
});

it.each([
	['10.5.50.1', '10.5.50.1'],
	[' WiFi.Example:080 ', 'wifi.example:80'],
	['10.5.50', null],
	['10.5.50.256', null],
	['a..b', null],
	['-a.example', null],
	['wifi.example/login', null],
	['user@wifi.example', null],
	['wifi.example:0', null],
	['wifi.example:65536', null],
	['', null]
])('the login host "%s" is %s', (text, expected) => {
	expect(normaliseLoginHost(text)).toBe(expected);
});

it.each([
	['AA:BB:CC:00:11:22', 'aa:bb:cc:00:11:22'],
	['aa-bb-cc-00-11-22', 'aa:bb:cc:00:11:22'],
	['aabbcc001122', 'aa:bb:cc:00:11:22'],
	['aa:bb-cc:00:11:22', null],
	['aa:bb:cc:00:11', null],
	['', null]
])('the MAC address "%s" is %s', (text, expected) => {
	expect(normaliseMac(text)).toBe(expected);
});

describe('the purchase that a browser comes back to', () => {
	const origin = 'https://portal.example';
	const token = 'AbCdEfGhIjKlMnOpQrStUv_-';

	it.each([
		[`${origin}/s/${token}?online`],
		[`${origin}/sw/s/${token}`],
		[
			`http://192.168.8.1:2050/opennds_auth/?tok=x&redir=${encodeURIComponent(`${origin}/s/${token}?online`)}`
		],
		[`http://10.5.50.1/login?dst=${encodeURIComponent(`${origin}/s/${token}`)}`]
	])('is found in %s', (address) => {
		expect(ownPurchase(address, origin)).toBe(token);
	});

	it.each([
		[null],
		['not an address'],
		[`https://evil.example/s/${token}`],
		[`http://portal.example/s/${token}`],
		[`${origin}/s/short`],
		[`${origin}/s/${token}/online`],
		[`http://10.5.50.1/login?dst=${encodeURIComponent(`https://evil.example/s/${token}`)}`]
	])('is not found in %s', (address) => {
		expect(ownPurchase(address, origin)).toBeNull();
	});
});
