import { z } from '@hono/zod-openapi';
import { constant, id, phone, timestamp } from './schemas/fields.ts';
import { payment } from './schemas/payment.ts';
import { session } from './schemas/session.ts';
import type { EVENT_NAMES } from './schemas/webhook.ts';

/**
 * Webhook bodies (wire format 5.2). `data` is the API object at the time of the event.
 * The router's owner gets `phone_masked`, the creating account gets `phone`.
 */

export type EventName = (typeof EVENT_NAMES)[number];
/** Excludes `webhook.test`, which is sent on demand. */
export type EventType = Exclude<EventName, 'webhook.test'>;

export const API_VERSION = '1.0';

export const EVENT_TEXTS: Readonly<Record<EventName, string>> = {
	'payment.success':
		'A payment succeeded. `data.applied` says whether it bought the time; if not, it is refunded.',
	'payment.failed': 'A payment failed, or the payer did not respond.',
	'payment.refunded': 'A payment was refunded.',
	'session.created': 'A session was created.',
	'session.activated': 'The time of a session started.',
	'session.expired':
		'The time of a session ran out. Sent exactly once per session, and not for sessions that were ended early.',
	'session.ended': 'A session was ended early.',
	'session.cancelled': 'A session was cancelled before it started.',
	'webhook.test':
		'Sent on demand from the developer settings to one endpoint, regardless of its registered events.'
};

/** An event has exactly one of the two. */
const phoneOrMask = (buyer: string) => ({
	phone: phone(`${buyer} Only for the account that bought.`).optional(),
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
		router_id: id('Id of the router of the session.'),
		...phoneOrMask('Number that was asked to pay, in E.164.')
	})
	.openapi('PaymentEventData', { description: 'The payment at the time of the event.' });

const testEventData = z
	.object({ message: z.string().describe('Says that this is a test.') })
	.openapi('TestEventData', { description: 'A message; nothing has happened.' });

export const TEST_MESSAGE = 'This is a test event. Nothing has happened.';

export const pascalCase = (name: string) =>
	name.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase());

const body = <Data extends z.ZodType>(type: EventName, data: Data) =>
	z
		.object({
			id: z
				.string()
				.regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
				.describe('Id of the event, as in `webhook-id`.'),
			type: constant(type, 'Name of the event.'),
			timestamp: timestamp.describe('Time of the event.'),
			api_version: constant(API_VERSION, 'Version of the API that `data` follows.'),
			data
		})
		.openapi(`${pascalCase(type)}Event`, { description: EVENT_TEXTS[type] });

export const webhookEvents = {
	'payment.success': body('payment.success', paymentEventData),
	'session.expired': body('session.expired', sessionEventData),
	'payment.failed': body('payment.failed', paymentEventData),
	'payment.refunded': body('payment.refunded', paymentEventData),
	'session.created': body('session.created', sessionEventData),
	'session.activated': body('session.activated', sessionEventData),
	'session.ended': body('session.ended', sessionEventData),
	'session.cancelled': body('session.cancelled', sessionEventData),
	'webhook.test': body('webhook.test', testEventData)
} as const satisfies Record<EventName, z.ZodType>;
