import { z } from 'zod';
import type { ZodOpenApiPathItemObject } from 'zod-openapi';
import { failed, paid, refunded, sessionExamples } from './example-story.ts';
import type { Example } from './examples.ts';
import { payment, session } from './schemas.ts';

/** The events that are delivered to registered addresses, for the `webhooks` section of the OpenAPI document. */

export interface EventText {
	/** When it happens. */
	description: string;
	/** The whole body that is delivered. */
	schema: z.ZodType;
	example: unknown;
}

/** One of both stands in an event: the router's owner who did not buy gets the masked number. */
const phones = { phone: z.string().optional(), phone_masked: z.string().optional() };

const sessionData = session.omit({ password: true }).extend(phones).meta({ id: 'SessionEventData' });

const paymentData = payment.extend({ router_id: z.int(), ...phones }).meta({ id: 'PaymentEventData' });

function eventSchema(type: string, description: string, data: z.ZodType): z.ZodType {
	const name = type.replace(/(?:^|[._])([a-z])/g, (_all, letter: string) => letter.toUpperCase());
	return z
		.object({
			id: z
				.string()
				.regex(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
				.meta({ description: 'Id of the event, as in `webhook-id`.' }),
			type: z.literal(type).meta({ description: 'Name of the event.' }),
			timestamp: z.iso.datetime({ precision: 3 }).meta({ description: 'When it happened.' }),
			api_version: z.literal('1.0').meta({ description: 'Version of the API whose objects these are.' }),
			data
		})
		.meta({ id: `${name}Event`, description });
}

function sessionEvent(type: string, description: string, from: keyof typeof sessionExamples): EventText {
	const session = sessionExamples[from];
	const data = Object.fromEntries(Object.entries(session).filter(([name]) => name !== 'password'));
	return {
		description,
		schema: eventSchema(type, description, sessionData),
		example: {
			id: 'evt_01KAJD5W7R2X9M4P6Q8S0T1V3K',
			type,
			timestamp: session.updated_at,
			api_version: '1.0',
			data
		}
	};
}

function paymentEvent(type: string, description: string, from: typeof paid): EventText {
	return {
		description,
		schema: eventSchema(type, description, paymentData),
		example: {
			id: 'evt_01KAJ6A3N0Y6T4W8Z2B5C7D9EF',
			type,
			timestamp: from.updated_at,
			api_version: '1.0',
			data: { ...from, router_id: 42 }
		}
	};
}

/** By event name. */
export const EVENT_TEXTS: Readonly<Record<string, EventText>> = {
	'payment.success': paymentEvent(
		'payment.success',
		'A payment succeeded. `data.applied` says whether it bought the time; one that did not goes back.',
		paid
	),
	'payment.failed': paymentEvent('payment.failed', 'A payment failed, or the payer did not answer.', failed),
	'payment.refunded': paymentEvent('payment.refunded', 'The money of a payment was given back.', refunded),
	'session.created': sessionEvent('session.created', 'A session was ordered.', 'ordered'),
	'session.activated': sessionEvent('session.activated', 'The time of a session began to run.', 'active'),
	'session.expired': sessionEvent(
		'session.expired',
		'The time of a session ran out; exactly once for a session. Not for one that was ended early.',
		'expired'
	),
	'session.ended': sessionEvent('session.ended', 'A session was ended early.', 'ended'),
	'session.cancelled': sessionEvent(
		'session.cancelled',
		'A session was cancelled before it began.',
		'cancelled'
	)
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

function webhook(name: string, { description, schema, example }: EventText): ZodOpenApiPathItemObject {
	const examples: Record<string, Example> = { event: { summary: description, value: example } };
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
export const webhooksOf = (events: Readonly<Record<string, EventText>>) =>
	Object.fromEntries(Object.entries(events).map(([name, text]) => [name, webhook(name, text)]));
