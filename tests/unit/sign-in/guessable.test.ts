import { expect, it } from 'vitest';
import { guessProblem } from '../../../src/lib/server/authentication/guessable.ts';

const EMAIL = 'amina.okello@cafe-nile.example';

it.each([
	['aaaaaaaaaaaa', 'repeats'],
	['121212121212', 'repeats'],
	['abcabcabcabc', 'repeats'],
	[EMAIL, 'names'],
	['AMINA.Okello@cafe-nile.example', 'names'],
	['amina-okello-2026', 'names'],
	['AirtillAirtill12', 'names'],
	['password1234', 'common'],
	['Password123456!', 'common'],
	['qwertyuiop12', 'common'],
	['passwordpassword', 'common'],
	['iloveyou1234', 'common'],
	['p@ssw0rd2026', 'common']
])('refuses %s', async (password, reason) => {
	expect(await guessProblem(password, EMAIL)).toBe(reason);
});

it.each(['a long enough password', 'Amina drinks ginger tea', 'x8273645128374', 'ኢትዮጵያ ውስጥ ቡና እወዳለሁ'])(
	'takes %s',
	async (password) => {
		expect(await guessProblem(password, EMAIL)).toBeNull();
	}
);
