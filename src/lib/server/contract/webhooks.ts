import { z } from '@hono/zod-openapi';
import * as field from './fields.ts';
import { payment } from './payment.ts';
import { session } from './session.ts';
import { voucher } from './voucher.ts';

/** Events, the endpoints that receive them, and the messages that are sent. */

export const EVENT_TEXTS = {
	'payment.success':
		'A payment succeeded. `data.applied` says whether it bought the time; if not, it is refunded.',
	'session.expired':
		'The time of a session ran out. Sent exactly once per session, and not for sessions that were ended early.',
	'payment.failed': 'A payment failed, or the payer did not respond.',
	'payment.refunded': 'A payment was refunded.',
	'session.created': 'A session was created.',
	'session.activated': 'The time of a session started.',
	'session.ended': 'A session was ended early, or no data is left of its pass (`data_limit_reached`).',
	'session.cancelled': 'A session was cancelled before it started.',
	'voucher.redeemed':
		'A voucher bought time. If no gateway confirms the time, the session is cancelled and the voucher is valid again.',
	// A client may register for every documented name.
	'webhook.test':
		'Sent on demand from the developer settings to one endpoint, regardless of its registered events.'
} as const;

export type EventName = keyof typeof EVENT_TEXTS;

export const EVENT_NAMES = Object.keys(EVENT_TEXTS) as [EventName, ...EventName[]];

const MAX_WEBHOOK_EVENTS = 20;
export const MAX_URL_LENGTH = 2_048;
/** Endpoints of an account. */
export const MAX_ENDPOINTS = 16;

export const webhookRegistration = z
	.strictObject({
		// Checks the form only: URL also takes `https:host`, which other parsers refuse. `webhook_url_not_allowed` covers
		// which URLs are allowed.
		url: z
			.string()
			.refine((text) => URL.canParse(text) && !/[\s\p{Cc}\\]|^https?:(?!\/\/[^/])/iu.test(text), {
				params: { item: 'invalid_format' },
				error: 'Use an absolute URL, e.g. "https://app.example.com/hooks/wifi".'
			})
			.meta({
				description:
					'Address for deliveries: https, a DNS name, port 443 or from 1024. A sandbox with demo data also takes http and this machine, from a client on this machine.',
				format: 'uri',
				pattern: '^https?://',
				maxLength: MAX_URL_LENGTH
			}),
		events: z
			.array(z.enum(EVENT_NAMES))
			.min(1)
			.max(MAX_WEBHOOK_EVENTS)
			.check(({ value, issues }) => {
				for (const [index, name] of value.entries()) {
					if (value.indexOf(name) === index) continue;
					const message = 'Name each event once.';
					issues.push({ code: 'custom', input: name, path: [index], params: { item: 'duplicate' }, message });
				}
			})
			.meta({ description: 'Names of the events to receive, each once.', uniqueItems: true })
	})
	.openapi('WebhookRegistration', { description: 'An address and the events that it receives.' });

export const webhookEndpoint = z
	.object({
		id: field.id('Id of the webhook endpoint.'),
		url: z.string().meta({ description: 'Address for deliveries.', maxLength: MAX_URL_LENGTH }),
		events: z.array(z.string()).describe('Names of the delivered events.'),
		status: z
			.enum(['active', 'disabled'])
			.describe('`active`, or `disabled` after five days of failures or a response 410.'),
		secret: field.textOrNull(
			'`whsec_` and the base64 key that signs deliveries (Standard Webhooks). Shown once, when the endpoint is created; then null.'
		),
		...field.changes
	})
	.openapi('WebhookEndpoint', { description: 'An address that receives events.' });

export const webhookListQuery = z.object(field.paging);

export const webhookList = field.list(
	'WebhookEndpointList',
	'One page of the webhook endpoints of the account.',
	webhookEndpoint,
	'Endpoints of this page, newest first, without secrets.'
);

export type WebhookRegistrationBody = z.infer<typeof webhookRegistration>;
export type WebhookBody = z.infer<typeof webhookEndpoint>;

/**
 * Webhook bodies (wire format 5.2). `data` is the API object at the time of the event.
 * The router's owner gets `phone_masked`, the creating account gets `phone`.
 */

/** Excludes `webhook.test`, which is sent on demand. */
export type EventType = Exclude<EventName, 'webhook.test'>;

export const API_VERSION = '1.0';

/** An event has exactly one of the two. */
const phoneOrMask = (buyer: string) => ({
	phone: field.phone(`${buyer} Only for the account that bought.`).optional(),
	phone_masked: z
		.string()
		.optional()
		.describe(
			'Replaces `phone` for the account that owns the router but did not buy: the number without its middle digits.'
		)
});

const sessionEventData = session
	.omit({ password: true, phone: true })
	.extend(phoneOrMask('Number of the payer in E.164.'))
	.openapi('SessionEventData', {
		description: 'The session at the time of the event, without its password.'
	});

const paymentEventData = payment
	.omit({ phone: true })
	.extend({
		router_id: field.id('Id of the router of the session.'),
		...phoneOrMask('Number that was asked to pay, in E.164.')
	})
	.openapi('PaymentEventData', { description: 'The payment at the time of the event.' });

const testEventData = z
	.object({ message: z.string().describe('Says that this is a test.') })
	.openapi('TestEventData', { description: 'A message; nothing has happened.' });

export const TEST_MESSAGE = 'This is a test event. Nothing has happened.';

export const pascalCase = (name: string) =>
	name.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase());

function chooseEventData(name: EventName) {
	if (name === 'webhook.test') return testEventData;
	if (name === 'voucher.redeemed') return voucher;
	return name.startsWith('payment.') ? paymentEventData : sessionEventData;
}

const defineEvent = (name: EventName) =>
	z
		.object({
			id: z
				.string()
				.regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
				.describe('Id of the event, as in `webhook-id`.'),
			type: field.constant(name, 'Name of the event.'),
			timestamp: field.timestamp.describe('Time of the event.'),
			api_version: field.constant(API_VERSION, 'Version of the API that `data` follows.'),
			data: chooseEventData(name)
		})
		.openapi(`${pascalCase(name)}Event`, { description: EVENT_TEXTS[name] });

export const webhookEvents = Object.fromEntries(
	EVENT_NAMES.map((name) => [name, defineEvent(name)])
) as Record<EventName, ReturnType<typeof defineEvent>>;

export const eventListQuery = z.object(field.newestFirst);

const recorded = EVENT_NAMES.filter((name) => name !== 'webhook.test').map((name) => webhookEvents[name]);

export const eventList = field.list(
	'EventList',
	'One page of the events of the last 30 days.',
	z.union(recorded),
	'Events of this page, newest first, as webhooks deliver them.'
);

export type EventBody = z.infer<typeof eventList>['data'][number];
