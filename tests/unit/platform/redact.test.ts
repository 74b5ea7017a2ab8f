import { expect, it } from 'vitest';
import { generateKey } from '#lib/server/developer/api-keys.ts';
import { makeWifiPassword } from '#lib/server/passes.ts';
import { redact, redactCut } from '#lib/server/platform/log.ts';

it('takes out phone numbers, however they are written', () => {
	for (const number of [
		...['+256772123456', '256772123456', '0772123456', '0772 123 456', '+256 (772) 123-456'],
		...['772123456', '+254712345678901']
	]) {
		expect(redact(`before ${number}, after`), number).toBe('before …, after');
		expect(redact(`{"phone":"${number}"}`), number).toBe('{"phone":"…"}');
	}
	expect(redact('phone=%2B256772123456&x=1')).toBe('phone=%2B…&x=1');
});

it('takes out keys, webhook secrets and Wi-Fi passwords', () => {
	for (let round = 0; round < 50; round += 1) {
		expect(redact(`a ${makeWifiPassword()} b`)).toBe('a ****-****-**** b');
	}
	expect(redact(`Bearer ${generateKey('test')}!`)).toBe('Bearer atl_test_…!');
	expect(redact('"whsec_DIpKxQVMTAj3ms0QfPOOuxmzPc2zqNnC7eR3m2uV3E4="')).toBe('"whsec_…"');
});

it('takes out webhook secrets as JSON, URLs and HTML write them, and signatures', () => {
	const secret = 'whsec_DIpK/QVMTAj3ms0Q+POOuxmzPc2z/NnC7eR3m2uV3E4=';
	for (const written of [
		secret.replaceAll('/', '\\/'),
		encodeURIComponent(secret),
		secret.replaceAll('+', '\\u002b').replaceAll('=', '\\u003D'),
		secret.replaceAll('/', '&#x2F;').replaceAll('+', '&#43;').replaceAll('=', '&#x3D;')
	]) {
		expect(redact(`a ${written} b`), written).toBe('a whsec_… b');
	}
	expect(redact('v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4= x')).toBe('v1,… x');
});

it('takes out what is called a token, a password or a secret, and passwords in capitals', () => {
	expect(redact('blocked: https://a.example/developer/password?token=abc%2Fdef.ghi&x=1')).toBe(
		'blocked: https://a.example/developer/password?token=…&x=1'
	);
	expect(redact('cookie airtill.session_token=abc.def; Path=/')).toBe(
		'cookie airtill.session_token=…; Path=/'
	);
	expect(redact('{"password":"k7mqx2vd9hta","client_secret" : "a\\"b"}')).toBe(
		'{"password":"…","client_secret" : "…"}'
	);
	expect(redact('it is K7MQ-X2VD-9HTA.')).toBe('it is ****-****-****.');
	for (const number of ['0772%20123%20456', '0772+123+456', '0772/123456', '0772\u00a0123\u202f456']) {
		expect(redact(`n=${number}`), number).toBe('n=…');
	}
});

it('takes out what is left of a password or number where a text was cut off', () => {
	const password = 'k7mq-x2vd-9hta';
	for (let length = 5; length < password.length; length += 1) {
		expect(redactCut(`ok ${password.slice(0, length)}`)).toBe('ok …');
	}
	expect(redactCut('from +25677212')).toBe('from …');
	expect(redactCut('well-known words, 1234')).toBe('well-known words, 1234');
});

it('leaves what helps to find a fault', () => {
	for (const text of [
		'UNIQUE constraint failed: payments.session_id',
		'at start (file:///srv/airtill/build/server/chunks/app.js:1234:56)',
		'connect ECONNREFUSED 127.0.0.1:5432',
		'session 9001 at 2026-11-21T09:16:00.000Z'
	]) {
		expect(redact(text)).toBe(text);
	}
});
