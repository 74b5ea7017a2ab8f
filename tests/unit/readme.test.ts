import { expect, test } from 'vitest';
import { readReadme, readmeWithTable } from '../support/readme.ts';

test('the configuration table of the README is the one that config.ts makes', () => {
	const readme = readReadme();
	expect(readme).toBe(readmeWithTable(readme));
});
