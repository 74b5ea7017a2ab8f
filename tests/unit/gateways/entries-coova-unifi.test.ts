/** Redirects of CoovaChilli and UniFi, as real gateways send them. */
import { describe, expect, it } from 'vitest';
import type { GatewayFacts } from '../../../src/lib/server/gateways/gateway.ts';
import { findAdapter } from '../../../src/lib/server/gateways/gateways.ts';
import { ACCESS, finished, get, md5, refusal, SECRET } from '../../support/gateways/entries.ts';

describe('CoovaChilli', () => {
	const coova = findAdapter('coova');
	const facts: GatewayFacts = {
		loginHosts: ['10.1.0.1'],
		secret: SECRET,
		credentials: {},
		settings: {},
		installation: ''
	};
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
		...[
			'http://portal.example/splash/KEY/',
			'http://Portal.Example/splash/KEY',
			'http://PORTAL.EXAMPLE/splash/KEY/'
		],
		...[
			'http://portal.example:80/splash/KEY',
			'http://Portal.example:80/splash/KEY/',
			'HTTP://portal.example/splash/KEY'
		],
		...[
			'http://porTal.exaMple/splash/KEY',
			'https://portal.example/splash/KEY',
			'http://10.8.0.1:8080/splash/KEY'
		]
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
	const facts: GatewayFacts = {
		loginHosts: [],
		secret: null,
		credentials: {},
		installation: '',
		settings: { site: 'default' }
	};

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
