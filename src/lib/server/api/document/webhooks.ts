import type { RouteConfig } from '@hono/zod-openapi';
import {
	API_VERSION,
	EVENT_TEXTS,
	type EventName,
	TEST_MESSAGE,
	pascalCase,
	webhookEvents
} from '#lib/server/contract/webhooks.ts';
import * as example from '#lib/server/contract/examples.ts';
import type { PaymentBody } from '#lib/server/contract/payment.ts';
import type { SessionBody } from '#lib/server/contract/session.ts';

const SESSION_EVENT_ID = 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K';

const paymentEvent = (data: PaymentBody) =>
	['evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF', data.updated_at, { router_id: 42, ...data }] as const;

function sessionEvent({ password: _password, ...session }: SessionBody) {
	const data = {
		...session,
		// As in billing/sessions/sessions.ts: events have no credentials, and none of the duration is used yet.
		access: { ...session.access, qr: null, qr_joins: null },
		...(session.status === 'active' ? { remaining_seconds: session.duration_seconds } : {})
	};
	return [SESSION_EVENT_ID, session.updated_at, data] as const;
}

const EXAMPLES: Readonly<Record<EventName, readonly [id: string, timestamp: string, data: object]>> = {
	'payment.success': paymentEvent(example.paid),
	'payment.failed': paymentEvent(example.failed),
	'payment.refunded': paymentEvent(example.refunded),
	'session.created': sessionEvent(example.ordered),
	'session.activated': sessionEvent(example.active),
	'session.expired': sessionEvent(example.expiredSession),
	'session.ended': sessionEvent(example.ended),
	'session.cancelled': sessionEvent(example.cancelled),
	'webhook.test': ['evt_01KAJA0C2E4G6J8M0P2R4T6W8Y', '2026-11-21T10:00:00.000Z', { message: TEST_MESSAGE }]
};

export function eventExample(type: EventName) {
	const [id, timestamp, data] = EXAMPLES[type];
	return { id, type, timestamp, api_version: API_VERSION, data };
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

export const webhookOperation = (name: EventName): RouteConfig => ({
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
