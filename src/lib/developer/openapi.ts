/** The subset of OpenAPI 3.1 that this API's document uses. */

export interface Schema {
	$ref?: string;
	type?: string | string[];
	description?: string;
	enum?: unknown[];
	const?: unknown;
	items?: Schema;
	properties?: Record<string, Schema>;
	required?: string[];
	anyOf?: Schema[];
	oneOf?: Schema[];
	allOf?: Schema[];
	[keyword: string]: unknown;
}

interface Reference {
	$ref: string;
}

export interface Media {
	schema: Schema;
	examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Header {
	description: string;
	schema: Schema;
	example?: unknown;
}

export interface Parameter {
	name: string;
	in: 'path' | 'query' | 'header';
	required?: boolean;
	description?: string;
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
	/** ISO dates, and the path of the replacement. */
	'x-deprecation'?: { since: string; sunset: string; successor: string | null };
	parameters?: (Parameter | Reference)[];
	requestBody?: { content: Record<string, Media> };
	responses: Record<string, Response | Reference>;
}

export interface ApiDocument {
	servers: { url: string }[];
	tags: { name: string; description: string }[];
	paths: Record<string, Record<string, Operation>>;
	webhooks?: Record<string, Record<string, Operation>>;
	components: { schemas: Record<string, Schema>; [kind: string]: unknown };
}

export interface Endpoint {
	method: string;
	/** With the version ("/v1/routers/{id}"); for a webhook the event's name. */
	path: string;
	isWebhook: boolean;
	operation: Operation;
}

/** Follows a `$ref`. @throws Error if the document lacks its target */
export function resolve<T extends object>(document: ApiDocument, value: T | Reference): T {
	if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
	const steps = value.$ref.replace('#/', '').split('/');
	const found = steps.reduce<unknown>((part, step) => Object(part)[step] as unknown, document);
	if (found === undefined) throw new Error(`The OpenAPI document has no ${value.$ref}`);
	return found as T;
}

export function endpointsOf(document: ApiDocument): Endpoint[] {
	const version = new URL(document.servers[0]?.url ?? 'http://localhost/v1').pathname;
	const of = (items: Record<string, Record<string, Operation>>, isWebhook: boolean) =>
		Object.entries(items).flatMap(([path, item]) =>
			Object.entries(item).map(([method, operation]) => ({
				method: method.toUpperCase(),
				path: isWebhook ? path : version + path,
				isWebhook,
				operation
			}))
		);
	return [...of(document.paths, false), ...of(document.webhooks ?? {}, true)];
}

export const endpointHref = ({ operation }: Endpoint) =>
	`/docs/endpoints/${slug(operation.tags[0] ?? '')}#${operation.operationId}`;

export const slug = (text: string) =>
	text
		.toLowerCase()
		.replace(/[^\w\s.-]/g, '')
		.trim()
		.replace(/[\s.]+/g, '-');

export const firstMedia = (content: Record<string, Media> | undefined): Media | undefined =>
	Object.values(content ?? {})[0];

export const toJson = (value: unknown) => JSON.stringify(value, null, 2);
