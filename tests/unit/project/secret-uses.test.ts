/** AIRTILL_SECRET may change: every use of it must have an answer to that. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const server = fileURLToPath(new URL('../../../src/lib/server', import.meta.url));
const textsIn = (folder: string) =>
	readdirSync(path.join(server, folder), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.ts'))
		.map((file) => readFileSync(path.join(server, folder, file), 'utf8'))
		.join('\n');

it('every derived key either verifies with both secrets or may change', () => {
	const text = textsIn('.');
	const purposes = (call: string) =>
		[...text.matchAll(new RegExp(`\\.${call}\\([\`']([a-z -]+)`, 'g'))].map(([, name]) => name).sort();
	expect(purposes('deriveAll')).toEqual([
		'api-key',
		'callback',
		'cursor',
		'guest pass',
		// That of the secret that sealed the gateway's key.
		'installation',
		'purchase code',
		'purchase code hash',
		// The key of the earlier secret stays published.
		'statement signature',
		'voucher code hash'
	]);
	expect(purposes('derive')).toEqual([
		// Ends after fifteen minutes.
		'alert code',
		'callback',
		// A sandbox prints it at each start.
		'demo-password',
		// Compares the orders of an hour.
		'earlier orders',
		// Without it a browser counts as a stranger until it signs in.
		'known-browser',
		// Counts fifteen minutes.
		'prompt-network',
		// Everybody signs in again.
		'sign-in'
	]);
});
