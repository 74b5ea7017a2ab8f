import { describe, expect, it } from 'vitest';
import { createSecrets, equalSecrets, hmac, sha256 } from '#lib/server/platform/secrets.ts';

const secrets = createSecrets('a secret of at least 32 characters');

describe('a sealed value', () => {
	it('opens with the same secret and context, in every process', () => {
		for (const plain of ['k7mq-x2vd-9hta', '', 'مقهى 😀']) {
			const sealed = secrets.encrypt(plain, 'session:9001');
			expect(sealed).not.toContain(plain || ' ');
			expect(createSecrets('a secret of at least 32 characters').decrypt(sealed, 'session:9001')).toBe(plain);
		}
	});

	it('is another text each time', () => {
		expect(secrets.encrypt('same', 'x')).not.toBe(secrets.encrypt('same', 'x'));
	});

	it('does not open for another context, another secret, or when a bit has changed', () => {
		const sealed = secrets.encrypt('k7mq-x2vd-9hta', 'session:9001');
		expect(() => secrets.decrypt(sealed, 'session:9002')).toThrow();
		expect(() => secrets.decrypt(sealed, '')).toThrow();
		expect(() =>
			createSecrets('another secret of 32 characters..').decrypt(sealed, 'session:9001')
		).toThrow();
		const bytes = Buffer.from(sealed.slice(3), 'base64url');
		for (let at = 0; at < bytes.length; at += 1) {
			const changed = Buffer.from(bytes);
			changed[at] = (changed[at] ?? 0) ^ 1;
			expect(() => secrets.decrypt(`v1.${changed.toString('base64url')}`, 'session:9001')).toThrow();
		}
	});

	it('does not open when it is cut short or of another version', () => {
		const sealed = secrets.encrypt('k7mq-x2vd-9hta', 'session:9001');
		// A shortened tag would be easier to guess.
		for (const length of [0, 3, 10, 20, 30, sealed.length - 1]) {
			expect(() => secrets.decrypt(sealed.slice(0, length), 'session:9001')).toThrow();
		}
		expect(() => secrets.decrypt(sealed.replace('v1.', 'v2.'), 'session:9001')).toThrow();
	});
});

it('a fallback opens what it has sealed, and seals and derives nothing', () => {
	const both = createSecrets('another secret of 32 characters..', 'a secret of at least 32 characters');
	const [old, fresh] = [secrets.encrypt('k7mq', 'x'), both.encrypt('k7mq', 'x')];
	expect([old, fresh].map((sealed) => both.decrypt(sealed, 'x'))).toEqual(['k7mq', 'k7mq']);
	expect([fresh, old, fresh.slice(0, -1)].map((sealed) => both.keyIndex(sealed, 'x'))).toEqual([0, 1, -1]);
	expect(() => secrets.decrypt(fresh, 'x')).toThrow();
	const alone = createSecrets('another secret of 32 characters..');
	expect(both.derive('x', 8)).toEqual(alone.derive('x', 8));
	expect(both.deriveAll('x', 8)).toEqual([alone.derive('x', 8), secrets.derive('x', 8)]);
});

describe('what is derived', () => {
	it('is the same for the same secret and purpose, and different for every other', () => {
		expect(secrets.derive('callback', 32)).toEqual(secrets.derive('callback', 32));
		expect(secrets.derive('callback', 32)).not.toEqual(secrets.derive('cursor', 32));
		expect(secrets.derive('callback', 32)).not.toEqual(createSecrets('another').derive('callback', 32));
		expect(secrets.derive('callback', 64)).toHaveLength(64);
	});
});

it('hashes as the standards say', () => {
	// FIPS 180-4 and RFC 4231, test case 2
	expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
	const mac = hmac(Buffer.from('Jefe'), 'what do ya want for nothing?');
	expect(Buffer.from(mac, 'base64url').toString('hex')).toBe(
		'5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
	);
});

it('compares secrets of any length', () => {
	expect(equalSecrets('abc', 'abc')).toBe(true);
	for (const other of ['abd', 'ab', 'abcd', '', 'ABC']) expect(equalSecrets('abc', other)).toBe(false);
});
