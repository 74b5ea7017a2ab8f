import {
	nameOf,
	operationsOf,
	resolved,
	slug,
	type ApiDocument,
	type Operation,
	type Schema
} from './document.ts';

/**
 * Where each named shape of the document is described in the reference: objects once, on the page that first uses
 * them; everything else links there. Lists of values have no place of their own: they stand at the fields.
 */

/** Pages that describe objects beside those of the endpoints. */
export const ERRORS_PAGE = '/docs/errors';
export const WEBHOOKS_PAGE = '/docs/webhooks';
export const STATES_PAGE = '/docs/states';

export const tagPage = (tag: string) => `/docs/endpoints/${slug(tag)}`;

const isObject = (schema: Schema) => schema.properties !== undefined;

/** Names of the shapes below a schema, itself first, each once. */
export function namesBelow(document: ApiDocument, schema: Schema, seen = new Set<string>()): string[] {
	const name = nameOf(schema);
	if (name !== null && seen.has(name)) return [];
	if (name !== null) seen.add(name);
	const own = resolved(document, schema);
	const parts = [
		...Object.values(own.properties ?? {}),
		...(own.items ? [own.items] : []),
		...[own.anyOf, own.oneOf, own.allOf].flatMap((list) => list ?? [])
	];
	const below = parts.flatMap((part) => namesBelow(document, part, seen));
	return name === null ? below : [name, ...below];
}

/** The shapes of what goes in and of successes. */
export function schemasOf(document: ApiDocument, operation: Operation): Schema[] {
	const successes = Object.entries(operation.responses)
		.filter(([status]) => status.startsWith('2'))
		.map(([, response]) => resolved(document, response).content ?? {});
	return [operation.requestBody?.content ?? {}, ...successes]
		.flatMap((content) => Object.values(content))
		.map(({ schema }) => schema);
}

/** By name of the shape: the page that describes it. */
export type Places = ReadonlyMap<string, string>;

export function placesOf(document: ApiDocument): Places {
	const places = new Map<string, string>([
		['Problem', ERRORS_PAGE],
		['ProblemItem', ERRORS_PAGE]
	]);
	const place = (operation: Operation, page: string) => {
		for (const schema of schemasOf(document, operation)) {
			for (const name of namesBelow(document, schema)) {
				const found = document.components.schemas[name];
				if (found && isObject(found) && !places.has(name)) places.set(name, page);
			}
		}
	};
	for (const { name } of document.tags) {
		for (const { operation } of operationsOf(document)) {
			if (operation.tags.includes(name)) place(operation, tagPage(name));
		}
	}
	for (const { post } of Object.values(document.webhooks)) place(post, WEBHOOKS_PAGE);
	return places;
}

/** "/docs/endpoints/sessions#session", or null when the shape has no place. */
export function hrefOf(places: Places, name: string): string | null {
	const page = places.get(name);
	return page === undefined ? null : `${page}#${objectId(name)}`;
}

export const objectId = (name: string) => `object-${slug(name)}`;
