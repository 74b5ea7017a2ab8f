import { eventList, eventListQuery } from '#lib/server/contract/events.ts';
import { endpoint as example, lastPage } from '#lib/server/contract/examples.ts';
import { webhookEndpoint, webhookRegistration } from '#lib/server/contract/schemas.ts';
import { endpoint } from '../endpoint.ts';
import { eventExample } from '../document/webhooks.ts';
import type { SortValues } from '#lib/server/platform/cursor.ts';
import { listPage } from '../http/list.ts';
import { defineRoute, json, jsonBodyOf } from '../route.ts';

const registerWebhook = defineRoute({
	method: 'post',
	path: '/webhooks/register',
	operationId: 'registerWebhook',
	tags: ['Webhooks'],
	summary: 'Register a webhook URL for the listed events',
	description:
		'Registers an address that receives events, signed after Standard Webhooks. The address is not contacted now. The 201 response shows the secret of the endpoint once. Registering the same address again replaces its events, enables it again, and responds with 200 and without the secret.',
	scope: 'webhooks:write',
	errors: ['webhook_url_not_allowed', 'webhook_limit_reached'],
	idempotent: true,
	request: {
		body: jsonBodyOf(webhookRegistration, 'Both events of the specification', {
			url: example.url,
			events: example.events
		})
	},
	responses: {
		200: json(webhookEndpoint, 'The address was registered before; `secret` is null.', {
			again: ['The same address again', { ...example, secret: null, updated_at: '2026-11-21T12:00:00.000Z' }]
		}),
		201: json(webhookEndpoint, 'The new endpoint with its secret, shown this once.', {
			registered: ['A new endpoint', example]
		})
	}
});

const listEvents = defineRoute({
	method: 'get',
	path: '/events',
	operationId: 'listEvents',
	tags: ['Events'],
	summary: 'List the events of the account',
	description:
		'Lists the events of the sessions and payments that the account of the key created, newest first, for example to find those that a webhook missed. Events are kept for 30 days. `id` equals the `webhook-id` of the delivery.',
	scope: 'events:read',
	request: { query: eventListQuery },
	responses: {
		200: json(eventList, 'The events of this page; an empty list if there are none.', {
			last_page: ['One event, and no further page', lastPage(eventExample('payment.success'))]
		})
	}
});

export const webhooks = [
	endpoint(listEvents, async (call) => {
		const { app, caller, query } = call;
		const { created_after: createdAfter, created_before: createdBefore, limit } = query;
		const filters = ['events', caller.accountId, createdAfter, createdBefore];
		const { page, headers } = await listPage(call, filters, (after: SortValues<string> | null) =>
			app.events.list(caller, { createdAfter, createdBefore, after, limit })
		);
		return { body: page, headers };
	}),
	endpoint(registerWebhook, async ({ app, caller, body, context, remember }) => {
		const { host } = new URL(context.req.url);
		const registered = await app.webhooks.register(caller, body, host, remember);
		return { body: registered.body, status: registered.created ? 201 : 200 };
	})
];
