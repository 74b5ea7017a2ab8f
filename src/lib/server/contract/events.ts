import { z } from '@hono/zod-openapi';
import { constant, id, list, newestFirst, phone, timestamp } from './schemas/fields.ts';
import { payment } from './schemas/payment.ts';
import { session } from './schemas/session.ts';
import { EVENT_NAMES, EVENT_TEXTS, type EventName } from './schemas/webhook.ts';

/**
 * Webhook bodies (wire format 5.2). `data` is the API object at the time of the event.
 * The router's owner gets `phone_masked`, the creating account gets `phone`.
 */

/** Excludes `webhook.test`, which is sent on demand. */
export type EventType = Exclude<EventName, 'webhook.test'>;

export const API_VERSION = '1.0';

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

function dataOf(name: EventName) {
	if (name === 'webhook.test') return testEventData;
	return name.startsWith('payment.') ? paymentEventData : sessionEventData;
}

const bodyOf = (name: EventName) =>
	z
		.object({
			id: z
				.string()
				.regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
				.describe('Id of the event, as in `webhook-id`.'),
			type: constant(name, 'Name of the event.'),
			timestamp: timestamp.describe('Time of the event.'),
			api_version: constant(API_VERSION, 'Version of the API that `data` follows.'),
			data: dataOf(name)
		})
		.openapi(`${pascalCase(name)}Event`, { description: EVENT_TEXTS[name] });

export const webhookEvents = Object.fromEntries(EVENT_NAMES.map((name) => [name, bodyOf(name)])) as Record<
	EventName,
	ReturnType<typeof bodyOf>
>;

export const eventListQuery = z.object(newestFirst);

const recorded = EVENT_NAMES.filter((name) => name !== 'webhook.test').map((name) => webhookEvents[name]);

export const eventList = list(
	'EventList',
	'One page of the events of the last 30 days.',
	z.union(recorded),
	'Events of this page, newest first, as webhooks deliver them.'
);

export type EventBody = z.infer<typeof eventList>['data'][number];
