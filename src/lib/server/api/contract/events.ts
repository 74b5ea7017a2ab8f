import { z } from 'zod';
import { payment, session, timestamp, type EVENT_NAMES } from './schemas.ts';

/**
 * What webhooks carry (wire format 5.2): one body for each event name. `data` is the API object at the time of the
 * event; the account that owns the router sees `phone_masked` where the creating account sees `phone`.
 */

export type EventName = (typeof EVENT_NAMES)[number];
/** Events that something makes happen; the other one is made on demand. */
export type EventType = Exclude<EventName, 'webhook.test'>;

export const API_VERSION = '1.0';

/** When each event happens. */
export const EVENT_TEXTS: Readonly<Record<EventName, string>> = {
	'payment.success':
		'A payment succeeded. `data.applied` says whether it bought the time; one that did not goes back.',
	'payment.failed': 'A payment failed, or the payer did not answer.',
	'payment.refunded': 'The money of a payment was given back.',
	'session.created': 'A session was ordered.',
	'session.activated': 'The time of a session began to run.',
	'session.expired':
		'The time of a session ran out; exactly once for a session. Not for one that was ended early.',
	'session.ended': 'A session was ended early.',
	'session.cancelled': 'A session was cancelled before it began.',
	'webhook.test':
		'Sent on demand from the developer settings, to one endpoint, whatever it was registered for.'
};

/** One of both stands in an event. */
const phoneOrMask = { phone: z.string().optional(), phone_masked: z.string().optional() };

export const sessionEventData = session
	.omit({ password: true, phone: true })
	.extend(phoneOrMask)
	.meta({ id: 'SessionEventData' });

export const paymentEventData = payment
	.omit({ phone: true })
	.extend({ router_id: z.int(), ...phoneOrMask })
	.meta({ id: 'PaymentEventData' });

export const testEventData = z.object({ message: z.string() }).meta({ id: 'TestEventData' });

/** What `webhook.test` says. */
export const TEST_MESSAGE = 'This is a test event. Nothing has happened.';

/** `payment.success` as the name of a schema: `PaymentSuccessEvent`. */
const shapeName = (type: EventName) =>
	`${type.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase())}Event`;

const body = <Name extends EventName, Data extends z.ZodType>(type: Name, data: Data) =>
	z
		.object({
			id: z
				.string()
				.regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
				.meta({ description: 'Id of the event, as in `webhook-id`.' }),
			type: z.literal(type).meta({ description: 'Name of the event.' }),
			timestamp: timestamp.meta({ description: 'When it happened.' }),
			api_version: z
				.literal(API_VERSION)
				.meta({ description: 'Version of the API whose objects these are.' }),
			data
		})
		.meta({ id: shapeName(type), description: EVENT_TEXTS[type] });

/** The body of each event, by its name. */
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
