import { z } from '@hono/zod-openapi';
import * as field from './fields.ts';

/** `webhook.test` is only sent on demand, but a client may register for every documented name. */
export const EVENT_NAMES = [
	'payment.success',
	'session.expired',
	'payment.failed',
	'payment.refunded',
	'session.created',
	'session.activated',
	'session.ended',
	'session.cancelled',
	'webhook.test'
] as const;

const MAX_WEBHOOK_EVENTS = 20;

export const webhookRegistration = z
	.strictObject({
		// Checks the form only. `webhook_url_not_allowed` covers which URLs are allowed.
		url: z
			.string()
			.refine((text) => URL.canParse(text) && !/[\s\p{Cc}]/u.test(text), {
				params: { item: 'invalid_format' },
				error: 'Use an absolute URL, e.g. "https://app.example.com/hooks/wifi".'
			})
			.describe('Address for deliveries: https, a DNS name, port 443 or from 1024.'),
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
		url: z.string().describe('Address for deliveries.'),
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

export type WebhookRegistrationBody = z.infer<typeof webhookRegistration>;
export type WebhookBody = z.infer<typeof webhookEndpoint>;
