import { expect, it } from 'vitest';
import { isPassOpen, makeWifiPassword } from '#lib/server/passes.ts';
import { PASSWORD } from '../../support/api/wire.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const sealed = { password_sealed: 'sealed' };

it('counts a pass as open while it runs or waits for a gateway', () => {
	expect(isPassOpen({ activating_until: null, ends_at: NOW + 1, ...sealed }, NOW)).toBe(true);
	expect(isPassOpen({ activating_until: NOW, ends_at: null, ...sealed }, NOW)).toBe(true);
	expect(isPassOpen({ activating_until: null, ends_at: NOW, ...sealed }, NOW)).toBe(false);
	expect(isPassOpen({ activating_until: null, ends_at: null, ...sealed }, NOW)).toBe(false);
});

it('leaves a pass over whose end is ahead again after the clock was set back', () => {
	const pass = { activating_until: null, ends_at: NOW, password_sealed: null };
	expect(isPassOpen(pass, NOW - 3_600_000)).toBe(false);
});

it('a Wi-Fi password has twelve characters without look-alikes, and is never all hex', () => {
	const passwords = Array.from({ length: 2_000 }, makeWifiPassword);
	for (const password of passwords) {
		expect(password).toMatch(PASSWORD);
		expect(password.replaceAll('-', '')).not.toMatch(/^[0-9a-f]+$/);
	}
	expect(new Set(passwords).size).toBe(passwords.length);
	expect([...new Set(passwords.join('').replaceAll('-', ''))].sort().join('')).toBe(
		'23456789abcdefghjkmnpqrstuvwxyz'
	);
});
