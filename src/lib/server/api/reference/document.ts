import { documentText } from '../contract/document-text.ts';

/**
 * The OpenAPI document as the reference reads it: the parts of OpenAPI 3.1 that ours uses (tests/unit/openapi.test.ts
 * holds its form), with the address of this installation in it.
 */

export interface Schema {
	$ref?: string;
	type?: string | string[];
	description?: string;
	format?: string;
	pattern?: string;
	enum?: unknown[];
	const?: unknown;
	default?: unknown;
	minimum?: number;
	maximum?: number;
	exclusiveMinimum?: number;
	minLength?: number;
	maxLength?: number;
	minItems?: number;
	maxItems?: number;
	uniqueItems?: boolean;
	items?: Schema;
	properties?: Record<string, Schema>;
	required?: string[];
	anyOf?: Schema[];
	oneOf?: Schema[];
	allOf?: Schema[];
}

export interface Example {
	summary: string;
	value: unknown;
}

interface Reference {
	$ref: string;
}

export interface Media {
	schema: Schema;
	examples: Record<string, Example>;
}

export interface Header {
	description: string;
	required?: boolean;
	schema: Schema;
	example: unknown;
}

export interface Parameter {
	name: string;
	in: 'path' | 'query' | 'header';
	required?: boolean;
	description: string;
	schema: Schema;
	example?: unknown;
}

export interface Response {
	description: string;
	headers?: Record<string, Header | Reference>;
	content?: Record<string, Media>;
}

export interface Operation {
	operationId: string;
	summary: string;
	description: string;
	tags: string[];
	deprecated?: boolean;
	'x-role'?: string;
	'x-scope'?: string;
	parameters?: (Parameter | Reference)[];
	requestBody?: { content: Record<string, Media> };
	responses: Record<string, Response | Reference>;
}

export interface ApiDocument {
	info: { title: string; version: string };
	servers: { url: string }[];
	tags: { name: string; description: string }[];
	paths: Record<string, Record<string, Operation>>;
	webhooks: Record<string, { post: Operation }>;
	components: { schemas: Record<string, Schema>; headers: Record<string, Header> };
}

let last: { origin: string; document: ApiDocument } | null = null;

/** @param origin public address of the installation, without a slash at the end */
export function documentFor(origin: string): ApiDocument {
	// Of the last address only: an installation rarely has more than one.
	if (last?.origin !== origin) last = { origin, document: JSON.parse(documentText(origin)) as ApiDocument };
	return last.document;
}

/** What a `$ref` leads to, or the value itself. */
export function resolved<T extends object>(document: ApiDocument, value: T | Reference): T {
	if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
	const steps = value.$ref.replace('#/', '').split('/');
	const found = steps.reduce<unknown>((part, step) => Object(part)[step] as unknown, document);
	if (found === undefined) throw new Error(`The document has no ${value.$ref}`);
	return found as T;
}

/** "#/components/schemas/Router" -> "Router"; null for a schema without a name. */
export const nameOf = (schema: Schema): string | null => schema.$ref?.split('/').at(-1) ?? null;

export interface Located {
	method: string;
	path: string;
	operation: Operation;
}

/** All operations, in the order of the document. */
export const operationsOf = (document: ApiDocument): Located[] =>
	Object.entries(document.paths).flatMap(([path, item]) =>
		Object.entries(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation }))
	);

/** "Router owner" or "listRouters" -> "router-owner", "list-routers": a part of an address. */
export const slug = (name: string) =>
	name
		.replace(/([a-z])([A-Z])/g, '$1-$2')
		.replace(/[\s._]+/g, '-')
		.toLowerCase();
