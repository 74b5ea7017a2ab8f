import { expect, it } from 'vitest';
import { guessProblem } from '../../../src/lib/server/developer/sign-in/guessable.ts';

const EMAIL = 'amina.okello@cafe-nile.example';

it.each([
	['aaaaaaaaaaaa', 'repeats'],
	['121212121212', 'repeats'],
	['abcabcabcabc', 'repeats'],
	[EMAIL, 'names'],
	['AMINA.Okello@cafe-nile.example', 'names'],
	['amina-okello-2026', 'names'],
	['AirtillAirtill12', 'names']
])('refuses %s', (password, reason) => {
	expect(guessProblem(password, EMAIL)).toBe(reason);
});

it.each(['a long enough password', 'Amina drinks ginger tea', 'x8273645128374', 'ኢትዮጵያ ውስጥ ቡና እወዳለሁ'])(
	'takes %s',
	(password) => {
		expect(guessProblem(password, EMAIL)).toBeNull();
	}
);
