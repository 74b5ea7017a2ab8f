import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import { MAX_AMOUNT_MINOR, toMajor } from '#lib/domain/money.ts';
import type { Config } from '#lib/server/config/config.ts';
import {
	EVENT_NAMES,
	EVENT_TEXTS,
	type EventName,
	pascalCase,
	webhookEvents
} from '#lib/server/contract/webhooks.ts';
import { EXAMPLE_ORIGIN, IDEMPOTENCY_KEY, PROBLEM_EXAMPLES, type Route } from './route.ts';
import { ROUTES } from './api.ts';
import { SESSION_EVENT_ID, eventExample } from '#lib/server/contract/examples.ts';

const INFO = {
	title: 'Airtill API',
	version: '1.0',
	summary: 'Wi-Fi time on routers of their owners, paid by mobile money.',
	description: `Airtill sells time-limited Wi-Fi access on routers of their owners, paid by mobile money.

**Authentication.** Every request has the header \`Authorization: Bearer <API_KEY>\`. Create keys in the developer settings of the site. Keys are secrets of servers, so there is no CORS.

**Formats.** JSON in UTF-8, names in snake_case, times in RFC 3339 UTC with milliseconds, money in major units with an ISO 4217 currency, distances in metres. Every documented field is always present; fields that do not apply are null. Request bodies have known fields only, at most 16 KiB.

**Errors** are problem documents (RFC 9457). \`code\` is stable, \`detail\` is for people, and \`type\` links to an explanation.

**Headers.** Every response has \`X-Request-Id\`; name it when you ask for help. Responses to a known key also say what is left of the rate limit, in \`RateLimit\` and \`X-RateLimit-Remaining\`. Lists link their next page in \`Link\`. A response of an earlier request with the same Idempotency-Key has \`Idempotent-Replayed: true\`.

**Limits.** By default 100 requests in any 60 seconds for each key (1000 on the enterprise rate plan); all keys of an account together have 20 times as many. Above a limit: 429 with \`Retry-After\`.

**Changes.** Within \`/v1\` there are only additions: fields, optional parameters, events, enum values, error codes. Ignore what you do not know. A breaking change becomes \`/v2\`, and \`/v1\` then lives for at least 12 months.`
};

const TAGS = [
	{ name: 'Routers', description: 'Find routers near a location and read one.' },
	{ name: 'Sessions', description: 'Order access time, read its state and password, end it.' },
	{ name: 'Payments', description: 'Pay for a session by mobile money.' },
	{ name: 'Vouchers', description: 'Make vouchers that are paid in cash, and redeem them.' },
	{ name: 'Router owner', description: 'For router owners: earnings, sessions, prices.' },
	{ name: 'Events', description: 'Read past events.' },
	{ name: 'Webhooks', description: 'Receive events.' }
];

export function buildDocument(routes: readonly Route[] = ROUTES) {
	const hono = new OpenAPIHono();
	const registry = hono.openAPIRegistry;
	registry.registerComponent('securitySchemes', 'bearerAuth', {
		type: 'http',
		scheme: 'bearer',
		bearerFormat: 'atl_live_… or atl_test_…',
		description: 'An API key from the developer settings.'
	});
	registry.registerComponent('parameters', 'IdempotencyKey', IDEMPOTENCY_KEY);
	for (const [code, example] of Object.entries(PROBLEM_EXAMPLES)) {
		registry.registerComponent('examples', code, example);
	}
	for (const route of routes) registry.registerPath(route.openapi);
	for (const name of EVENT_NAMES) registry.registerWebhook(webhookOperation(name));
	return hono.getOpenAPI31Document({
		openapi: '3.1.1',
		info: { ...INFO, license: { name: 'Apache 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' } },
		externalDocs: { description: 'Guides and reference', url: `${EXAMPLE_ORIGIN}/docs` },
		servers: [{ url: `${EXAMPLE_ORIGIN}/v1` }],
		security: [{ bearerAuth: [] }],
		tags: TAGS
	});
}

let kept: { maxPrice: number; text: string } | null = null;

/**
 * The document of this installation as JSON.
 * @param origin public address without a trailing slash
 */
export function formatDocument(
	origin: string,
	{ currency, maxPrice }: Pick<Config, 'currency' | 'maxPrice'>
): string {
	if (kept?.maxPrice !== maxPrice) {
		const document = buildDocument();
		Object.assign(Object(document.components?.schemas?.['PriceUpdate']).properties.price, {
			maximum: maxPrice
		});
		const maxAmount = toMajor(MAX_AMOUNT_MINOR, currency);
		const text = JSON.stringify(document, (key, value: unknown) =>
			key === 'maximum' && value === MAX_AMOUNT_MINOR ? maxAmount : value
		);
		kept = { maxPrice, text };
	}
	return kept.text.replaceAll(EXAMPLE_ORIGIN, JSON.stringify(origin).slice(1, -1));
}

const header = (name: string, description: string, example: string) => ({
	name,
	in: 'header' as const,
	required: true,
	description,
	schema: { type: 'string' as const },
	example
});

const PARAMETERS = [
	header(
		'webhook-id',
		'Id of the event, the same for every attempt: ignore ids that you have processed.',
		SESSION_EVENT_ID
	),
	header('webhook-timestamp', 'Time of this attempt, in epoch seconds.', '1795252581'),
	header(
		'webhook-signature',
		'`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; for a day after a rotation two of them, separated by a space.',
		'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='
	)
];

const webhookOperation = (name: EventName): RouteConfig => ({
	method: 'post',
	path: name,
	operationId: `on${pascalCase(name)}`,
	summary: name,
	description: `${EVENT_TEXTS[name]}\n\nSigned after [Standard Webhooks](https://www.standardwebhooks.com): verify \`webhook-signature\` over the raw body with the secret of the endpoint. For accounts that own the router but did not buy, \`phone_masked\` replaces \`phone\`. Delivered at least once, in any order.`,
	tags: ['Webhooks'],
	security: [],
	parameters: PARAMETERS,
	request: {
		body: {
			required: true,
			content: {
				'application/json': {
					schema: webhookEvents[name],
					examples: { event: { summary: name, value: eventExample(name) } }
				}
			}
		}
	},
	responses: {
		'2XX': { description: 'Accepted. Any other response, or none within 15 seconds, is retried.' },
		'410': { description: 'Disables the endpoint.' }
	}
});
