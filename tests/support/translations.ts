/**
 * Which translations are older than their English. `tests/unit/i18n/translated.json` keeps a hash of the English text
 * that the translations of a key follow, and the languages that do not follow it yet: "3f9a1c" or "3f9a1c lg am".
 *
 * `npm run language:changed` lists the keys whose English has changed. `npm run language:changed -- KEY...` records
 * that their translations follow it; `-- all` records every key.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const ENGLISH = path.join(root, 'src/lib/i18n/messages/en.json');
const RECORD = path.join(root, 'tests/unit/i18n/translated.json');

type Texts = Record<string, string>;

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as Texts;
const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 6);
const followed = (entry = '') => entry.split(' ')[0];

/** Lists the keys whose translations follow an older English text, or none. */
export function listChanged(english = read(ENGLISH), record = read(RECORD)): string[] {
	return Object.keys(english).filter((key) => followed(record[key]) !== hash(english[key] ?? ''));
}

function recordTranslated(keys: readonly string[], english: Texts): void {
	const record = read(RECORD);
	const entries = Object.keys(english)
		.sort()
		.map((key) => [key, keys.includes(key) ? hash(english[key] ?? '') : record[key]])
		.filter(([, entry]) => entry !== undefined);
	writeFileSync(RECORD, `${JSON.stringify(Object.fromEntries(entries), null, '\t')}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const english = read(ENGLISH);
	const named = process.argv.slice(2);
	if (named.length > 0) recordTranslated(named[0] === 'all' ? Object.keys(english) : named, english);
	const record = read(RECORD);
	for (const [key, entry] of Object.entries(record)) {
		const [, ...languages] = entry.split(' ');
		if (languages.length > 0) console.log(`waiting for ${languages.join(', ')}: ${key}: ${english[key]}`);
	}
	const changed = listChanged(english, record);
	for (const key of changed) console.log(`changed: ${key}: ${english[key]}`);
	process.exitCode = changed.length > 0 ? 1 : 0;
}
