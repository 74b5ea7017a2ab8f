import { openApiDocument } from './openapi.ts';
import { EXAMPLE_ORIGIN } from './problem-examples.ts';

let text: string | null = null;

/**
 * The OpenAPI document of an installation as JSON.
 * @param origin its public address, without a slash at the end
 */
export function documentText(origin: string): string {
	text ??= JSON.stringify(openApiDocument(`${EXAMPLE_ORIGIN}/v1`));
	return text.replaceAll(EXAMPLE_ORIGIN, JSON.stringify(origin).slice(1, -1));
}
