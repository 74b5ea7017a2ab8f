import type { RouteConfig } from '@hono/zod-openapi';
import {
	API_VERSION,
	EVENT_TEXTS,
	pascalCase,
	TEST_MESSAGE,
	webhookEvents,
	type EventName
} from '../contract/events.ts';
import { failed, paid, refunded, sessionExamples } from '../contract/examples.ts';

interface EventExample {
	id: string;
	type: EventName;
	timestamp: string;
	api_version: string;
	data: object;
}

const event = (id: string, type: EventName, timestamp: string, data: object): EventExample => ({
	id,
	type,
	timestamp,
	api_version: API_VERSION,
	data
});

const SESSION_EVENT_ID = 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K';

function sessionEvent(type: EventName, from: keyof typeof sessionExamples): EventExample {
	const session = sessionExamples[from];
	const data: Partial<typeof session> = {
		...session,
		// As in billing/sessions/body.ts: events have no credentials, and none of the duration is used yet.
		access: { ...session.access, qr: null, qr_joins: null },
		...(session.status === 'active' ? { remaining_seconds: session.duration_seconds } : {})
	};
	delete data.password;
	return event(SESSION_EVENT_ID, type, session.updated_at, data);
}

const paymentEvent = (type: EventName, payment: typeof paid) =>
	event('evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF', type, payment.updated_at, { router_id: 42, ...payment });

export const EVENT_EXAMPLES: Readonly<Record<EventName, EventExample>> = {
	'payment.success': paymentEvent('payment.success', paid),
	'payment.failed': paymentEvent('payment.failed', failed),
	'payment.refunded': paymentEvent('payment.refunded', refunded),
	'session.created': sessionEvent('session.created', 'ordered'),
	'session.activated': sessionEvent('session.activated', 'active'),
	'session.expired': sessionEvent('session.expired', 'expired'),
	'session.ended': sessionEvent('session.ended', 'ended'),
	'session.cancelled': sessionEvent('session.cancelled', 'cancelled'),
	'webhook.test': event('evt_01KAJA0C2E4G6J8M0P2R4T6W8Y', 'webhook.test', '2026-11-21T10:00:00.000Z', {
		message: TEST_MESSAGE
	})
};

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
					examples: { event: { summary: name, value: EVENT_EXAMPLES[name] } }
				}
			}
		}
	},
	responses: {
		'2XX': { description: 'Accepted. Any other response, or none within 15 seconds, is retried.' },
		'410': { description: 'Disables the endpoint.' }
	}
});
