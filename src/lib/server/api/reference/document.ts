import type { ApiDocument } from '#lib/developer/openapi.ts';
import { documentText } from '../document/document.ts';

let last: { origin: string; document: ApiDocument } | null = null;

/**
 * Returns the OpenAPI document that /openapi.json serves. Remembers the document of the last origin.
 * @param origin public address of the installation, without a slash at the end
 */
export function documentFor(origin: string): ApiDocument {
	if (last?.origin !== origin) last = { origin, document: JSON.parse(documentText(origin)) as ApiDocument };
	return last.document;
}
