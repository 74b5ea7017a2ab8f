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

const phoneOrMask = {
	phone: z.string().optional().meta({ description: 'For the account that created the session.' }),
	phone_masked: z
		.string()
		.optional()
		.meta({ description: 'Instead of `phone`, for the account that owns the router.' })
};

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

const body = <Name extends EventName, Data extends z.ZodType>(type: Name, data: Data) =>
	z.object({
		id: z.string().regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
		type: z.literal(type),
		timestamp,
		api_version: z.literal(API_VERSION),
		data
	});

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
