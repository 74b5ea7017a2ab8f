/**
 * Writes the configuration table into the README (`npm run readme`); tests/unit/readme.test.ts holds that it is
 * up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { configTable } from '#lib/server/config/config.ts';

const path = fileURLToPath(new URL('../../README.md', import.meta.url));
const START = '<!-- configuration: made by "npm run readme" -->';
const END = '<!-- end of configuration -->';

/** The README as it should be. @throws Error when its markers are gone */
export function readmeWithTable(readme: string): string {
	const start = readme.indexOf(START);
	const end = readme.indexOf(END);
	if (start < 0 || end < start) throw new Error('README.md has lost the markers of the configuration table');
	return `${readme.slice(0, start + START.length)}\n\n${configTable()}\n\n${readme.slice(end)}`;
}

export const readReadme = (): string => readFileSync(path, 'utf8');

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path, readmeWithTable(readReadme()));
