import { expect, it } from 'vitest';
import { findGuessProblem } from '#lib/server/authentication/guessable.ts';

const EMAIL = 'amina.okello@cafe-nile.example';

it.each([
	['aaaaaaaaaaaa', 'repeats'],
	['abcabcabcabc', 'repeats'],
	[EMAIL, 'names'],
	['amina-okello-2026', 'names'],
	['AirtillAirtill12', 'names'],
	['password1234', 'common'],
	['p@ssw0rd2026', 'common'],
	['iloveyou iloveyou', 'common'],
	['password1password2', 'common'],
	['Welcome-welcome-1', 'common'],
	['1qaz2wsx3edc', 'common'],
	['qwertyasdfgh', 'common'],
	['abcdefgh1234', 'common']
])('refuses %s', async (password, reason) => {
	expect(await findGuessProblem(password, EMAIL)).toBe(reason);
});

it.each([
	...['correct horse battery staple', 'dragon 8273645128', 'iloveyou mango rain'],
	...['a long enough password', 'Amina drinks ginger tea', 'x8273645128374', 'ኢትዮጵያ ውስጥ ቡና እወዳለሁ']
])('takes %s', async (password) => {
	expect(await findGuessProblem(password, EMAIL)).toBeNull();
});
