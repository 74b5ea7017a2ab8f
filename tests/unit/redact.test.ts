import { expect, it } from 'vitest';
import { generateKey } from '../../src/lib/server/api-keys/key-format.ts';
import { wifiPassword } from '../../src/lib/server/ids.ts';
import { redact } from '../../src/lib/server/redact.ts';

it('takes out phone numbers, however they are written', () => {
	for (const number of [
		'+256772123456',
		'256772123456',
		'0772123456',
		'0772 123 456',
		'+256 (772) 123-456',
		'772123456',
		'+254712345678901'
	]) {
		expect(redact(`before ${number}, after`), number).toBe('before …, after');
		expect(redact(`{"phone":"${number}"}`), number).toBe('{"phone":"…"}');
	}
	expect(redact('phone=%2B256772123456&x=1')).toBe('phone=%2B…&x=1');
});

it('takes out keys, webhook secrets and Wi-Fi passwords', () => {
	for (let round = 0; round < 50; round += 1) {
		expect(redact(`a ${wifiPassword()} b`)).toBe('a ****-****-**** b');
	}
	expect(redact(`Bearer ${generateKey('test')}!`)).toBe('Bearer atl_test_…!');
	expect(redact('"whsec_DIpKxQVMTAj3ms0QfPOOuxmzPc2zqNnC7eR3m2uV3E4="')).toBe('"whsec_…"');
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
