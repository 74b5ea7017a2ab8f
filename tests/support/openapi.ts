/**
 * Writes what is made from the API's contract (`npm run openapi`): the committed copy of the OpenAPI document.
 * tests/unit/openapi.test.ts holds that it is up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '#lib/server/contract/openapi.ts';

const fileOf = (path: string) => fileURLToPath(new URL(`../../src/lib/server/${path}`, import.meta.url));

/** By path below src/lib/server: what is made, as it should be. */
export async function made(): Promise<Record<string, string>> {
	const document = openApiDocument();
	return { 'contract/openapi.json': `${JSON.stringify(document, null, '\t')}\n` };
}

export const committed = (path: string): string => readFileSync(fileOf(path), 'utf8');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	for (const [path, text] of Object.entries(await made())) writeFileSync(fileOf(path), text);
}
