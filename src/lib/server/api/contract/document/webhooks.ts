import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { API_VERSION, EVENT_TEXTS, TEST_MESSAGE, webhookEvents, type EventName } from '../events.ts';
import { failed, paid, refunded, sessionExamples } from './example-story.ts';
import type { Example } from './examples.ts';
import { EVENT_NAMES } from '../schemas.ts';

/** The events that are delivered to registered addresses, for the `webhooks` section of the OpenAPI document. */

interface EventExample {
	id: string;
	type: EventName;
	timestamp: string;
	api_version: string;
	data: object;
}

function sessionEvent(type: EventName, from: keyof typeof sessionExamples): EventExample {
	const session = sessionExamples[from];
	const data = Object.fromEntries(Object.entries(session).filter(([name]) => name !== 'password'));
	// As body.ts makes it: no event says how to get in, and at its moment nothing of the time is used.
	data['access'] = { ...session.access, qr: null, qr_joins: null };
	if (session.status === 'active') data['remaining_seconds'] = session.duration_seconds;
	const id = 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K';
	return { id, type, timestamp: session.updated_at, api_version: API_VERSION, data };
}

function paymentEvent(type: EventName, { id: paymentId, session_id, ...rest }: typeof paid): EventExample {
	const data = { id: paymentId, session_id, router_id: 42, ...rest };
	const id = 'evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF';
	return { id, type, timestamp: rest.updated_at, api_version: API_VERSION, data };
}

/** A whole body of each event. */
export const EVENT_EXAMPLES: Readonly<Record<EventName, EventExample>> = {
	'payment.success': paymentEvent('payment.success', paid),
	'payment.failed': paymentEvent('payment.failed', failed),
	'payment.refunded': paymentEvent('payment.refunded', refunded),
	'session.created': sessionEvent('session.created', 'ordered'),
	'session.activated': sessionEvent('session.activated', 'active'),
	'session.expired': sessionEvent('session.expired', 'expired'),
	'session.ended': sessionEvent('session.ended', 'ended'),
	'session.cancelled': sessionEvent('session.cancelled', 'cancelled'),
	'webhook.test': {
		id: 'evt_01KAJA0C2E4G6J8M0P2R4T6W8Y',
		type: 'webhook.test',
		timestamp: '2026-11-21T10:00:00.000Z',
		api_version: API_VERSION,
		data: { message: TEST_MESSAGE }
	}
};

const HEADERS = {
	'webhook-id': 'Id of the event, the same on every attempt: ignore one that you have seen.',
	'webhook-timestamp': 'When this attempt was sent, in epoch seconds.',
	'webhook-signature':
		'`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; two of them, separated by a blank, for a day after a rotation.'
};

const HEADER_EXAMPLES = {
	'webhook-id': 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K',
	'webhook-timestamp': '1795252581',
	'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='
};

function webhook(name: EventName): ZodOpenApiPathItemObject {
	const schema = webhookEvents[name];
	const description = EVENT_TEXTS[name];
	const examples: Record<string, Example> = { event: { summary: name, value: EVENT_EXAMPLES[name] } };
	return {
		post: {
			operationId: `on${name.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase())}`,
			summary: name,
			description: `${description}\n\nSigned after [Standard Webhooks](https://www.standardwebhooks.com): verify \`webhook-signature\` over the raw body with the secret of the endpoint. To accounts that own the router but did not buy, \`phone\` is replaced by \`phone_masked\`. Delivered at least once, in no promised order.`,
			tags: ['Webhooks'],
			security: [],
			parameters: Object.entries(HEADERS).map(([header, text]) => ({
				name: header,
				in: 'header' as const,
				required: true,
				description: text,
				schema: { type: 'string' as const },
				example: HEADER_EXAMPLES[header as keyof typeof HEADERS]
			})),
			requestBody: { required: true, content: { 'application/json': { schema, examples } } },
			responses: {
				'2XX': { description: 'Taken. Every other answer, and none within 15 seconds, is tried again.' },
				'410': { description: 'Never again: the endpoint is disabled.' }
			}
		}
	};
}

/** The `webhooks` section. */
export const openApiWebhooks = () => Object.fromEntries(EVENT_NAMES.map((name) => [name, webhook(name)]));
