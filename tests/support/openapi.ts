/**
 * Writes what is made from the API's contract (`npm run openapi`): the committed copy of the OpenAPI document, and
 * the types of the portal's client (openapi-typescript).
 * tests/unit/openapi.test.ts holds that it is up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { openApiDocument } from '#lib/server/api/contract/openapi.ts';

const fileOf = (path: string) => fileURLToPath(new URL(`../../src/lib/server/${path}`, import.meta.url));

const TYPES_HEADER =
	'/** Types of the API, generated from contract/openapi.json by "npm run openapi": not for editing. */';

/** By path below src/lib/server: what is made, as it should be. */
export async function made(): Promise<Record<string, string>> {
	const json = `${JSON.stringify(openApiDocument(), null, '\t')}\n`;
	const types = astToString(await openapiTS(json));
	return { 'contract/openapi.json': json, 'api-types.ts': `${TYPES_HEADER}\n\n${types}` };
}

export const committed = (path: string): string => readFileSync(fileOf(path), 'utf8');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	for (const [path, text] of Object.entries(await made())) writeFileSync(fileOf(path), text);
}
