/** The settings of the guide "Go live", as a shell reads them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { formatConfigTable, loadConfig } from '#lib/server/config/config.ts';

const read = (name: string) => readFileSync(new URL(`../../../src/docs/${name}.md`, import.meta.url), 'utf8');
const guide = read('go-live');
/** The reference: its table, and its text about the web server's settings. */
const reference = formatConfigTable() + read('configuration');
const settings = [...guide.matchAll(/^```sh airtill\.env\n([^]*?)^```/gm)]
	.map(([, text = '']) => text.replaceAll('…', '01234567-89ab-4cde-8f01-23456789abcd'))
	.join('');

it('a shell reads every setting of the guide "Go live"; Airtill knows and accepts it in live mode', () => {
	const folder = mkdtempSync(path.join(tmpdir(), 'airtill-go-live-'));
	try {
		const file = path.join(folder, 'airtill.env');
		writeFileSync(file, settings);
		const printed = execFileSync('sh', ['-euc', 'set -a; . "$0"; env', file], { encoding: 'utf8', env: {} });
		const names = [...settings.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name);
		expect(names.length).toBeGreaterThan(10);
		const env = Object.fromEntries(
			printed.split('\n').flatMap((line) => {
				const [name = '', ...value] = line.split('=');
				return names.includes(name) ? [[name, value.join('=')]] : [];
			})
		);
		for (const name of names) {
			expect(env[name], name).not.toBe('');
			expect(reference.includes(`\`${name}`), name).toBe(true);
		}
		const secret = 'a secret of at least 32 characters';
		const config = loadConfig({ ...env, AIRTILL_SECRET: secret, BASEMAP: undefined });
		expect(config).toMatchObject({ mode: 'live', smtp: { from: 'Airtill <wifi@example.org>' } });
	} finally {
		rmSync(folder, { recursive: true });
	}
});
