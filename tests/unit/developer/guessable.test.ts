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
	['AirtillAirtill12', 'our name']
])('refuses %s', (password, reason) => {
	expect(guessProblem(password, EMAIL)).toContain(reason);
});

it.each(['a long enough password', 'Amina drinks ginger tea', 'x8273645128374', 'ኢትዮጵያ ውስጥ ቡና እወዳለሁ'])(
	'takes %s',
	(password) => {
		expect(guessProblem(password, EMAIL)).toBeNull();
	}
);
