import { z } from 'zod';
import { createDocument, type oas31, type ZodOpenApiOverride } from 'zod-openapi';
import { FIELD_TEXTS, type FieldText } from './describe-fields.ts';
import { OPERATION_TEXTS, TAGS } from './describe-operations.ts';
import { SHAPE_TEXTS } from './describe-shapes.ts';
import { headerComponents } from './headers.ts';
import { codesOf, IDEMPOTENCY_KEY, pathsOf, sharedResponses } from './paths.ts';
import { problemName, problemShape } from './problems.ts';
import { openApiWebhooks } from './webhooks.ts';
import { EXAMPLE_ORIGIN } from './problem-examples.ts';
import { ROUTES, type Route } from '../routes.ts';

/**
 * The OpenAPI 3.1 document of the API: made from the route table and the zod schemas, with the texts and
 * examples that stand beside them. Nothing is written twice; `npm run openapi` keeps the committed copy.
 */
export type OpenApiDocument = ReturnType<typeof createDocument>;
type Schema = Record<string, unknown>;

const DESCRIPTION = `Airtill sells time-limited Wi-Fi access on routers of their owners, paid by mobile money.

**Authentication.** Every request carries \`Authorization: Bearer <API_KEY>\`. Keys are made in the developer settings of the site; they are secrets of servers, so there is no CORS.

**Formats.** JSON in UTF-8, names in snake_case, times in RFC 3339 UTC with milliseconds, money in major units beside an ISO 4217 currency, distances in metres. Every documented field is always there; what does not apply is null. Bodies hold known fields only, at most 16 KiB.

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` is for people, and \`type\` leads to an explanation.

**Limits.** 100 requests in any 60 seconds for each key (1000 on the enterprise plan), counted exactly; RateLimit headers stand on every answer to a known key.

**Changes.** Within \`/v1\` there are only additions: fields, optional parameters, events, enum values, error codes. Ignore what you do not know. What breaks clients becomes \`/v2\`, and \`/v1\` then lives for at least 12 months.`;

/** Nothing but what a reader needs: no bounds of doubles, no page-long pattern of a timestamp. */
const override: ZodOpenApiOverride = ({ jsonSchema, zodSchema, io }) => {
	if (zodSchema._zod.def.type === 'nullable') foldNull(jsonSchema);
	// A field more must not break a client that validates.
	if (io === 'output') delete jsonSchema.additionalProperties;
	if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
	if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
	if (jsonSchema.format === 'date-time') {
		jsonSchema.pattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';
	}
	const { def } = zodSchema._zod;
	if (def.type === 'literal' && Number.isInteger(jsonSchema.const)) jsonSchema.type = 'integer';
	// What may be left out has a value then.
	if (io === 'input' && def.type === 'default') jsonSchema.default = def.defaultValue;
	// Numbers in a query or path are text only on the way; the document speaks of what they mean.
	if (io === 'input' && def.type === 'pipe') {
		delete jsonSchema.pattern;
		if (def.out instanceof z.ZodNumber) Object.assign(jsonSchema, z.toJSONSchema(def.out));
		else jsonSchema.type = 'integer';
		delete jsonSchema.$schema;
	}
};

/** A value or null, as one schema with two types, which is shorter and reads better. */
function foldNull(schema: Schema): void {
	const [value, none] = Array.isArray(schema.anyOf) ? schema.anyOf : [];
	if (typeof value?.type !== 'string' || value.enum || none?.type !== 'null') return;
	delete schema.anyOf;
	Object.assign(schema, value, { type: [value.type, 'null'] });
}

/** The document of these routes. `servers` is the template of the specification unless a base URL is given. */
export function openApiDocument(baseUrl: string | null = null, routes = ROUTES): OpenApiDocument {
	const codes = new Set(routes.flatMap(codesOf));
	const document = createDocument(
		{
			openapi: '3.1.1',
			info: {
				title: 'Airtill API',
				version: '1.0',
				summary: 'Wi-Fi time on routers of their owners, paid by mobile money.',
				description: DESCRIPTION
			},
			externalDocs: { description: 'Guides and reference', url: `${EXAMPLE_ORIGIN}/docs` },
			servers: [serverOf(baseUrl)],
			security: [{ bearerAuth: [] }],
			tags: [...TAGS],
			paths: pathsOf(routes),
			webhooks: openApiWebhooks(),
			components: {
				securitySchemes: {
					bearerAuth: {
						type: 'http',
						scheme: 'bearer',
						bearerFormat: 'atl_live_… or atl_test_…',
						description: 'An API key from the developer settings.'
					}
				},
				schemas: Object.fromEntries([...codes].map((code) => [problemName(code), problemShape(code)])),
				responses: sharedResponses(),
				parameters: routes.some(({ idempotent }) => idempotent) ? { IdempotencyKey: IDEMPOTENCY_KEY } : {}
			}
		},
		{ override }
	);
	describe(document, routes);
	addHeaders(document);
	return document;
}

const serverOf = (baseUrl: string | null): oas31.ServerObject =>
	baseUrl === null
		? {
				url: '{base_url}',
				description: 'The installation; the address ends in the version.',
				variables: { base_url: { default: `${EXAMPLE_ORIGIN}/v1` } }
			}
		: { url: baseUrl };

const textOf = (text: FieldText): Schema => (typeof text === 'string' ? { description: text } : { ...text });

/** Adds a text, and keywords of JSON Schema that zod does not know. */
function addText(schema: Schema, text: Schema): void {
	Object.assign(schema, text);
	if ('exclusiveMinimum' in schema) delete schema.minimum;
}

function describe(document: OpenApiDocument, routes: readonly Route[]): void {
	for (const [name, schema] of Object.entries<Schema>(Object(document.components?.schemas))) {
		if (SHAPE_TEXTS[name]) schema.description = SHAPE_TEXTS[name];
		const properties = Object(schema.properties) as Record<string, Schema>;
		for (const [field, text] of Object.entries(FIELD_TEXTS[name] ?? {})) {
			if (properties[field]) addText(properties[field], textOf(text));
		}
	}
	for (const { path, method, operationId } of routes) {
		const operation = document.paths?.[path]?.[method.toLowerCase() as Lowercase<typeof method>];
		for (const parameter of operation?.parameters ?? []) {
			if (!('name' in parameter) || parameter.in === 'header') continue;
			const text = OPERATION_TEXTS[operationId]?.parameters[parameter.name];
			if (text === undefined) throw new Error(`No text for ${parameter.name} of ${operationId}`);
			const { description, example, ...keywords } = textOf(text);
			const schema: Schema = { ...Object(parameter.schema) };
			addText(schema, keywords);
			Object.assign(parameter, { description, schema, example });
		}
	}
}

/** The headers that something refers to. */
function addHeaders(document: OpenApiDocument): void {
	const text = JSON.stringify(document);
	const named = new Set(
		[...text.matchAll(/"#\/components\/headers\/([^"]+)"/g)].map(([, name = '']) => name)
	);
	document.components = { ...document.components, headers: headerComponents(named) };
}
