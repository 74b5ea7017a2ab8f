/** The address names the buyer's language, so every link and redirect must keep it. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const src = fileURLToPath(new URL('../../../src', import.meta.url));

const pages = readdirSync(src, { recursive: true, encoding: 'utf8' })
	.map((file) => file.replaceAll(path.sep, '/'))
	.filter((file) => /^routes\/(\(portal\)\/.*|\+[\w.]+)\.(ts|svelte)$/.test(file));

/** An internal address without `link(...)`. */
const BARE =
	/(?:\bredirect\(\s*\d{3},\s*|\bgoto\(|\blocation\.(?:assign|replace)\(|\b(?:href|action)=\{?)["'`]\/(?!\/)|from '\$app\/paths'/g;

it('every page links and redirects through link()', () => {
	expect(pages.length).toBeGreaterThan(8);
	const bare = pages.flatMap((file) =>
		[...readFileSync(path.join(src, file), 'utf8').matchAll(BARE)].map(([text]) => `${file}: ${text}`)
	);
	expect(bare).toEqual([]);
});
