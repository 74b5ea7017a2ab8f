/** Redirects of gateways, as real ones send them, and what is made of them. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Entry, EntryRequest, GatewayAdapter, GatewayFacts } from '#lib/server/gateways/gateway.ts';
import { findAdapter, signsInBrowser } from '#lib/server/gateways/gateways.ts';
import { Refused } from '#lib/server/platform/errors.ts';

const SECRET = 'obviouslyFakeSharedSecret0123456';
const ACCESS = {
	user: 's9001',
	password: 'abcd-efgh-jkmn',
	landing: 'https://portal.example/s/T?online'
};
const NO_FACTS = { loginHosts: [], secret: null, credentials: {}, settings: {}, installation: '' };
const md5 = (...parts: (string | Buffer)[]) => {
	const digest = createHash('md5');
	for (const part of parts) digest.update(part);
	return digest.digest();
};
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const get = (query: string): EntryRequest => ({
	method: 'GET',
	address: `http://portal.example/splash/KEY?${query}`,
	fields: new URLSearchParams(query)
});
const post = (fields: Record<string, string>): EntryRequest => ({
	method: 'POST',
	address: 'http://portal.example/splash/KEY',
	fields: new URLSearchParams(fields)
});

function refusal(adapter: GatewayAdapter, request: EntryRequest, facts: GatewayFacts): string {
	try {
		adapter.parseEntry(request, facts);
	} catch (error) {
		if (error instanceof Refused) return error.reason;
		throw error;
	}
	return 'taken';
}

/** The address to which the browser is redirected. */
function finished(adapter: GatewayAdapter, entry: Entry, facts: GatewayFacts): URL {
	return new URL(adapter.signInUrl?.(entry, ACCESS, facts) ?? '');
}

describe('CoovaChilli', () => {
	const coova = findAdapter('coova');
	const facts: GatewayFacts = { ...NO_FACTS, loginHosts: ['10.1.0.1'], secret: SECRET };
	const challenge = '00112233445566778899aabbccddeeff';
	const QUERY =
		`res=notyet&uamip=10.1.0.1&uamport=3990&challenge=${challenge}&called=02-AA-BB-CC-DD-EE` +
		'&mac=AA-BB-CC-00-11-22&ip=10.1.0.7&nasid=nas01&sessionid=5f&userurl=http%3a%2f%2fexample.com%2f';
	const signed = (query: string, secret = SECRET) =>
		get(
			`${query}&md=${md5(`http://portal.example/splash/KEY?${query}`, secret).toString('hex').toUpperCase()}`
		);

	it('reads a signed address', () => {
		expect(coova.parseEntry(signed(QUERY), facts)).toEqual({
			state: 'new',
			problem: null,
			clientMac: 'aa:bb:cc:00:11:22',
			clientIp: '10.1.0.7',
			originalUrl: 'http://example.com/',
			login: { address: '10.1.0.1:3990', challenge }
		});
	});

	it.each([
		'http://PORTAL.EXAMPLE/splash/KEY/',
		'http://Portal.example:80/splash/KEY',
		'HTTP://portal.example/splash/KEY',
		'https://portal.example/splash/KEY',
		'http://10.8.0.1:8080/splash/KEY'
	])('accepts the signature over %s, which the browser asks for in another way', (uamserver) => {
		const md = md5(`${uamserver}?${QUERY}`, SECRET).toString('hex').toUpperCase();
		for (const path of ['/splash/KEY', '/splash/KEY/']) {
			const address = `http://portal.example${path}?${QUERY}&md=${md}`;
			const request = { ...get(QUERY), address, host: '10.8.0.1:8080' };
			expect(coova.parseEntry(request, facts).clientMac).toBe('aa:bb:cc:00:11:22');
		}
		const other = `http://portal.example/splash/KEY?${QUERY.replace('AA-BB', 'AA-BC')}&md=${md}`;
		expect(refusal(coova, { ...get(QUERY), address: other, host: '10.8.0.1:8080' }, facts)).toBe('forged');
	});

	it.each([
		['one that is not signed', get(QUERY), 'forged'],
		['one signed with another secret', signed(QUERY, 'x'), 'forged'],
		[
			'another MAC under the same signature',
			{
				...signed(QUERY),
				address: signed(QUERY).address.replace('AA-BB', 'AA-BC')
			},
			'forged'
		],
		[
			'a changed way of writing',
			{ ...signed(QUERY), address: signed(QUERY).address.replace('%3a', '%3A') },
			'forged'
		],
		['a foreign host, well signed', signed(QUERY.replace('10.1.0.1', '203.0.113.9')), 'foreign-host'],
		['a foreign port', signed(QUERY.replace('3990', '80')), 'foreign-host'],
		['a challenge that is none', signed(QUERY.replace(challenge, 'zz')), 'broken'],
		['an unknown res', signed(QUERY.replace('notyet', 'what')), 'missing'],
		['too much', signed(`${QUERY}&x=${'x'.repeat(9_000)}`), 'too-long']
	])('refuses %s', (_what, request, reason) => {
		expect(refusal(coova, request, facts)).toBe(reason);
	});

	it('answers the challenge: md5(0 + password + md5(challenge + uamsecret))', () => {
		const url = finished(coova, coova.parseEntry(signed(QUERY), facts), facts);
		expect(url.origin + url.pathname).toBe('http://10.1.0.1:3990/logon');
		expect(Object.fromEntries(url.searchParams)).toEqual({
			username: 's9001',
			response: md5('\0', ACCESS.password, md5(Buffer.from(challenge, 'hex'), SECRET)).toString('hex'),
			userurl: ACCESS.landing
		});
	});

	it.each([
		['success', 'online', null],
		['already', 'online', null],
		['failed', 'refused', 'wrong-password'],
		['logoff', 'signed-out', null]
	])('res=%s is %s', (res, state, problem) => {
		expect(coova.parseEntry(signed(QUERY.replace('notyet', res)), facts)).toMatchObject({ state, problem });
	});
});

describe('UniFi', () => {
	const unifi = findAdapter('unifi');
	const facts: GatewayFacts = { ...NO_FACTS, settings: { site: 'default' } };

	it('reads its query, and finishes nothing in the browser', () => {
		const entry = unifi.parseEntry(
			get('ap=02:AA:BB:CC:DD:EE&id=aa:bb:cc:00:11:22&t=1763700000&url=http://example.com/&ssid=Caf%C3%A9'),
			facts
		);
		expect(entry).toEqual({
			state: 'new',
			problem: null,
			clientMac: 'aa:bb:cc:00:11:22',
			clientIp: null,
			originalUrl: 'http://example.com/',
			login: { accessPoint: '02:aa:bb:cc:dd:ee' }
		});
		expect(unifi.signInUrl).toBeUndefined();
	});

	it.each([
		['no id', get('ap=02:aa:bb:cc:dd:ee'), 'missing'],
		['an id that is no MAC', get('id=me'), 'broken']
	])('refuses %s', (_what, request, reason) => {
		expect(refusal(unifi, request, facts)).toBe(reason);
	});
});

describe('MikroTik', () => {
	const mikrotik = findAdapter('mikrotik');
	const facts: GatewayFacts = { ...NO_FACTS, loginHosts: ['10.5.50.1', 'wifi.example'] };
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
		['another port', { 'link-login-only': 'http://10.5.50.1:8080/login' }, 'foreign-host'],
		['another path', { 'link-login-only': 'http://10.5.50.1/evil' }, 'foreign-host'],
		['another scheme', { 'link-login-only': 'javascript:alert(1)' }, 'foreign-host'],
		['no address', { 'link-login-only': 'login' }, 'broken'],
		['a MAC that is none', { mac: 'x' }, 'broken'],
		['a challenge without its id', { 'chap-id': '' }, 'broken'],
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

describe('openNDS', () => {
	const opennds = findAdapter('opennds');
	const facts: GatewayFacts = {
		...NO_FACTS,
		loginHosts: ['192.168.8.1'],
		secret: SECRET,
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
		['not base64', get('fas=%00%01'), 'broken'],
		['no hid', changed('hid', null), 'broken'],
		['a hid that is none', changed('hid', 'hid=abc'), 'broken'],
		['a MAC that is none', changed('clientmac', 'clientmac=aa:bb'), 'broken'],
		['another gateway', changed('gatewayaddress', 'gatewayaddress=203.0.113.9:2050'), 'foreign-host'],
		['another port', changed('gatewayaddress', 'gatewayaddress=192.168.8.1:80'), 'foreign-host'],
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
