/** Redirects of MikroTik, as real gateways send them. */
import { describe, expect, it } from 'vitest';
import { type GatewayFacts } from '../../../src/lib/server/gateways/gateway.ts';
import { findAdapter } from '../../../src/lib/server/gateways/gateways.ts';
import { ACCESS, finished, get, md5, post, refusal } from '../../support/gateways/entries.ts';
import { Refused } from '../../../src/lib/server/platform/errors.ts';

describe('MikroTik', () => {
	const mikrotik = findAdapter('mikrotik');
	const facts: GatewayFacts = {
		loginHosts: ['10.5.50.1', 'wifi.example'],
		secret: null,
		credentials: {},
		installation: '',
		settings: {}
	};
	const FIELDS = {
		mac: 'AA:BB:CC:00:11:22',
		ip: '10.5.50.254',
		identity: 'MikroTik',
		server: 'hotspot1',
		'link-login-only': 'http://10.5.50.1/login',
		'link-orig': 'http://example.com/?a=1&b=%20',
		'chap-id': '\\371',
		'chap-challenge': '\\357\\015\\330\\013\\021\\234\\145\\245\\303\\253\\142\\246\\133\\175\\375\\316',
		error: ''
	};
	const challenge = Buffer.from('ef0dd80b119c65a5c3ab62a65b7dfdce', 'hex');

	it('reads a posted form and a query alike', () => {
		const read = mikrotik.parseEntry(post(FIELDS), facts);
		expect(read).toEqual({
			state: 'new',
			problem: null,
			clientMac: 'aa:bb:cc:00:11:22',
			clientIp: '10.5.50.254',
			originalUrl: 'http://example.com/?a=1&b=%20',
			login: { address: 'http://10.5.50.1/login', chapId: 'f9', challenge: challenge.toString('hex') }
		});
		expect(mikrotik.parseEntry(get(String(new URLSearchParams(FIELDS))), facts)).toEqual(read);
	});

	it('reads -esc variables: decoded by a query, and here in a form', () => {
		const escaped = {
			'link-login-only': FIELDS['link-login-only'],
			'mac-esc': 'AA%3ABB%3ACC%3A00%3A11%3A22'
		};
		expect(mikrotik.parseEntry(post(escaped), facts).clientMac).toBe('aa:bb:cc:00:11:22');
		const query = `link-login-only=${escaped['link-login-only']}&mac-esc=${escaped['mac-esc']}`;
		expect(mikrotik.parseEntry(get(query), facts).clientMac).toBe('aa:bb:cc:00:11:22');
	});

	it('CHAP: md5(chap-id + password + challenge) over the bytes that the octal text means', () => {
		const url = finished(mikrotik, mikrotik.parseEntry(post(FIELDS), facts), facts);
		expect(url.origin + url.pathname).toBe('http://10.5.50.1/login');
		expect(Object.fromEntries(url.searchParams)).toEqual({
			username: 's9001',
			password: md5(Buffer.from([0xf9]), ACCESS.password, challenge).toString('hex'),
			dst: ACCESS.landing,
			popup: 'false'
		});
	});

	it('octal text: escapes, plain characters and a backslash', () => {
		const fields = { ...FIELDS, 'chap-challenge': '\\000\\377A\\\\ ' };
		expect(mikrotik.parseEntry(post(fields), facts).login).toMatchObject({ challenge: '00ff415c20' });
	});

	it('PAP where there is no challenge', () => {
		for (const empty of ['', '$(chap-id)']) {
			const fields = { ...FIELDS, 'chap-id': empty, 'chap-challenge': '' };
			const url = finished(mikrotik, mikrotik.parseEntry(post(fields), facts), facts);
			expect(url.searchParams.get('password')).toBe(ACCESS.password);
		}
	});

	it.each([
		['another host', { 'link-login-only': 'http://203.0.113.9/login' }, 'foreign-host'],
		[
			'a registered host as the user name',
			{ 'link-login-only': 'http://10.5.50.1@203.0.113.9/login' },
			'foreign-host'
		],
		['a user name', { 'link-login-only': 'http://u:p@10.5.50.1/login' }, 'foreign-host'],
		['another port', { 'link-login-only': 'http://10.5.50.1:8080/login' }, 'foreign-host'],
		['another path', { 'link-login-only': 'http://10.5.50.1/evil' }, 'foreign-host'],
		['another scheme', { 'link-login-only': 'javascript:alert(1)' }, 'foreign-host'],
		['no address', { 'link-login-only': 'login' }, 'broken'],
		['none', { 'link-login-only': '' }, 'missing'],
		['a MAC that is none', { mac: 'x' }, 'broken'],
		['a challenge without its id', { 'chap-id': '' }, 'broken'],
		['an id of two bytes', { 'chap-id': '\\001\\002' }, 'broken'],
		['too much', { 'link-orig': 'x'.repeat(9_000) }, 'too-long']
	])('refuses %s', (_what, change, reason) => {
		expect(refusal(mikrotik, post({ ...FIELDS, ...change }), facts)).toBe(reason);
	});

	it('https on its own port, and a host by name', () => {
		const named = { ...FIELDS, 'link-login-only': 'https://WiFi.example/login' };
		expect(mikrotik.parseEntry(post(named), facts).login['address']).toBe('https://wifi.example/login');
	});

	it.each([
		['invalid username or password', 'wrong-password'],
		['no more sessions are allowed for user s9001', 'too-many-devices'],
		['your uptime limit is reached', 'time-over'],
		['RADIUS server is not responding', 'not-ready'],
		['something new', 'unknown']
	])('"%s" becomes a reason', (error, problem) => {
		expect(mikrotik.parseEntry(post({ ...FIELDS, error }), facts)).toMatchObject({
			state: 'refused',
			problem
		});
	});

	it('an address that is no longer registered is not gone to', () => {
		const entry = mikrotik.parseEntry(post(FIELDS), facts);
		expect(() => mikrotik.signInUrl?.(entry, ACCESS, { ...facts, loginHosts: ['10.9.9.9'] })).toThrow(
			Refused
		);
	});
});
