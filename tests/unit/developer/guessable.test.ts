import { expect, it } from 'vitest';
import { guessProblem } from '../../../src/lib/server/developer/sign-in/guessable.ts';

const EMAIL = 'amina.okello@cafe-nile.example';

it.each([
	['aaaaaaaaaaaa', 'repeats'],
	['121212121212', 'repeats'],
	['abcabcabcabc', 'repeats'],
	[EMAIL, 'email address'],
	['AMINA.Okello@cafe-nile.example', 'email address'],
	['amina-okello-2026', 'email address'],
	['AirtillAirtill12', 'our name'],
	['password1234', 'lists'],
	['Password123456!', 'lists'],
	['qwertyuiop12', 'lists'],
	['passwordpassword', 'lists'],
	['iloveyou1234', 'lists'],
	['p@ssw0rd2026', 'lists']
])('refuses %s', async (password, reason) => {
	expect(await guessProblem(password, EMAIL)).toContain(reason);
});

it.each(['a long enough password', 'Amina drinks ginger tea', 'x8273645128374', 'ኢትዮጵያ ውስጥ ቡና እወዳለሁ'])(
	'takes %s',
	async (password) => {
		expect(await guessProblem(password, EMAIL)).toBeNull();
	}
);
