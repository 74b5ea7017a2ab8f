import { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiDocument } from '#lib/developer/openapi.ts';
import { PROBLEM_CODES } from '#lib/server/contract/problems.ts';
import { EVENT_NAMES, problem, problemItem } from '#lib/server/contract/schemas.ts';
import type { Route } from '../endpoint.ts';
import { ROUTES } from '../routes/index.ts';
import { IDEMPOTENCY_KEY } from '../route.ts';
import { EXAMPLE_ORIGIN, HEADERS } from './headers.ts';
import { problemName, problemSchema, sharedResponses } from './problem-responses.ts';
import { webhookOperation } from './webhooks.ts';

const INFO = {
	title: 'Airtill API',
	version: '1.0',
	summary: 'Wi-Fi time on routers of their owners, paid by mobile money.',
	description: `Airtill sells time-limited Wi-Fi access on routers of their owners, paid by mobile money.

**Authentication.** Every request has the header \`Authorization: Bearer <API_KEY>\`. Create keys in the developer settings of the site. Keys are secrets of servers, so there is no CORS.

**Formats.** JSON in UTF-8, names in snake_case, times in RFC 3339 UTC with milliseconds, money in major units with an ISO 4217 currency, distances in metres. Every documented field is always present; fields that do not apply are null. Request bodies have known fields only, at most 16 KiB.

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` is for people, and \`type\` links to an explanation.

**Limits.** 100 requests in any 60 seconds for each key (1000 on the enterprise rate plan). Every response to a known key has RateLimit headers.

**Changes.** Within \`/v1\` there are only additions: fields, optional parameters, events, enum values, error codes. Ignore what you do not know. A breaking change becomes \`/v2\`, and \`/v1\` then lives for at least 12 months.`
};

const TAGS = [
	{ name: 'Routers', description: 'Find routers near a location and read one.' },
	{ name: 'Sessions', description: 'Order access time, read its state and password, end it.' },
	{ name: 'Payments', description: 'Pay for a session by mobile money.' },
	{ name: 'Router owner', description: 'For router owners: earnings, sessions, prices.' },
	{ name: 'Events', description: 'Read past events.' },
	{ name: 'Webhooks', description: 'Receive events.' }
];

export function openApiDocument(routes: readonly Route[] = ROUTES) {
	const hono = new OpenAPIHono();
	const registry = hono.openAPIRegistry;
	registry.registerComponent('securitySchemes', 'bearerAuth', {
		type: 'http',
		scheme: 'bearer',
		bearerFormat: 'atl_live_… or atl_test_…',
		description: 'An API key from the developer settings.'
	});
	registry.registerComponent('parameters', 'IdempotencyKey', IDEMPOTENCY_KEY);
	for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header);
	for (const [name, response] of Object.entries(sharedResponses)) {
		registry.registerComponent('responses', name, response);
	}
	registry.register('ProblemItem', problemItem);
	registry.register(
		'Problem',
		problem.omit({ errors: true }).openapi({
			description:
				'An error (RFC 9457). Clients switch on `code`, and handle a code that they do not know by its status.'
		})
	);
	for (const code of PROBLEM_CODES)
		registry.registerComponent('schemas', problemName(code), problemSchema(code));
	for (const route of routes) registry.registerPath(route.openapi);
	for (const name of EVENT_NAMES) registry.registerWebhook(webhookOperation(name));
	return hono.getOpenAPI31Document({
		openapi: '3.1.1',
		info: INFO,
		externalDocs: { description: 'Guides and reference', url: `${EXAMPLE_ORIGIN}/docs` },
		servers: [{ url: `${EXAMPLE_ORIGIN}/v1` }],
		security: [{ bearerAuth: [] }],
		tags: TAGS
	});
}

let text: string | null = null;

/** @param origin public address without a trailing slash */
export function documentText(origin: string): string {
	text ??= JSON.stringify(openApiDocument());
	return text.replaceAll(EXAMPLE_ORIGIN, JSON.stringify(origin).slice(1, -1));
}

let last: { origin: string; document: ApiDocument } | null = null;

/** Caches the document of the last origin. */
export function documentFor(origin: string): ApiDocument {
	if (last?.origin !== origin) last = { origin, document: JSON.parse(documentText(origin)) as ApiDocument };
	return last.document;
}
